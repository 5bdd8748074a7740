# A file that is named must be there; "none" is no file.
resource-tracker --config missing.toml true
echo "$?"
mkdir folder
TRACKER_CONFIG=folder resource-tracker true
echo "$?"
mkdir -p ../home/.config/resource-tracker
echo 'interval = 0' >../home/.config/resource-tracker/config.toml
resource-tracker --config none -q true
