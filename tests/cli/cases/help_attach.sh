resource-tracker attach --help
