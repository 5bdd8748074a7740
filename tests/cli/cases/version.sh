resource-tracker --version && resource-tracker -V
