# Who asks for help gets it, whatever else is wrong.
TRACKER_INTERVAL=fast resource-tracker --help --nonsense | head -n 1
