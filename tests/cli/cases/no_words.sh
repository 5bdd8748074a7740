resource-tracker
