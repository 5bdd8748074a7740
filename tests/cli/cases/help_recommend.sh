resource-tracker recommend --help
