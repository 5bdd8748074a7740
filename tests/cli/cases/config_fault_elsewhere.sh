# A file that can't be understood is told of; who only lists runs goes on, who measures does not.
export XDG_CONFIG_HOME="$PWD"
mkdir resource-tracker
printf 'interval = 1\nintervall = 3\n' > resource-tracker/config.toml
resource-tracker runs; echo "$?"
resource-tracker info > /dev/null; echo "$?"
resource-tracker true; echo "$?"
resource-tracker --config none -q true; echo "$?"
resource-tracker runs --config resource-tracker/config.toml; echo "$?"
