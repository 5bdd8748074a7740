# Options behind the command are the command's.
resource-tracker -q echo -q --help -i
