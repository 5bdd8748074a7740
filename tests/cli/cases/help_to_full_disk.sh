# Help that does not arrive is no success.
resource-tracker --help >/dev/full
