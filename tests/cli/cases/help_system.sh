resource-tracker -q system -h
