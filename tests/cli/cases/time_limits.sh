# A limit is a time over 0 or none; --kill-after alone means nothing, but may wait in a file or a variable.
resource-tracker --timeout 0 true; echo "$?"
resource-tracker --timeout 5m --kill-after 0 true; echo "$?"
resource-tracker --kill-after 3 true; echo "$?"
resource-tracker --timeout none --kill-after 3 true; echo "$?"
TRACKER_KILL_AFTER=3 resource-tracker -q true; echo "$?"
TRACKER_TIMEOUT=0.1 resource-tracker -q --timeout none sleep 0.3; echo "$?"
TRACKER_TIMEOUT=0.1 resource-tracker -q sleep 5; echo "$?"
