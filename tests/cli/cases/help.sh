resource-tracker --help
