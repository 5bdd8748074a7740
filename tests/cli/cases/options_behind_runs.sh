# Behind a file or a run's id options can only be meant for the tracker.
resource-tracker -q -n nap true
resource-tracker show --json | grep -c '"job_name":"nap"'
id=$(resource-tracker runs --json | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
resource-tracker show "$id" --json | grep -c '"job_name":"nap"'
resource-tracker recommend "$id" --json | grep -c classic
resource-tracker runs --older-than 3d; echo "$?"
resource-tracker convert --max-rows 1.5 a b; echo "$?"
resource-tracker runs prune "$id" --max-size 0; echo "$?"
resource-tracker show --match nothing; echo "$?"
resource-tracker show ./missing; echo "$?"
resource-tracker runs prune --older-than 0s
