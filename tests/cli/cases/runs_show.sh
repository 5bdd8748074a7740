# A kept run in words: figures below each other, the course beside them, ASCII where the locale has no more.
unset LC_ALL LC_CTYPE LANG
resource-tracker -q -i 0.02 --job-name nap sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; sleep 0.2; exit 3'
LC_ALL=C resource-tracker show
LC_ALL=C.UTF-8 resource-tracker show | grep -c '[▁▂▃▄▅▆▇█]'
