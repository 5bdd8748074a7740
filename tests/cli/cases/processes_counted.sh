# Looks and waiting alone may miss who lives between them, and the count says so.
resource-tracker --no-save --sources wait4 sh -c 'for i in 1 2 3 4 5; do sleep 0.1; done' 2>&1 |
    grep processes | cut -c1-22
