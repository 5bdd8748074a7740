# Whether the machine has GPUs or none: it is said that this one counts nothing.
resource-tracker -i 0.1 --gpus 77 sleep 0.5
