# Nothing half-printed where there is nothing to paste.
resource-tracker -q -i 0.01 sleep 0.05
resource-tracker recommend --paste all; echo "$?"
resource-tracker recommend --paste slurm; echo "$?"
