resource-tracker compare --help
