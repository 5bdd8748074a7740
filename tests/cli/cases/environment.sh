TRACKER_INTERVAL=fast resource-tracker true
echo "$?"
TRACKER_QUIET=maybe resource-tracker true
echo "$?"
TRACKER_QUIET=yes resource-tracker true
echo "$?"
# Others use the prefix too: a variable that nothing reads is named only to who asks.
TRACKER_STORE_DIR=/x resource-tracker -q true
TRACKER_STORE_DIR=/x resource-tracker -qv true
