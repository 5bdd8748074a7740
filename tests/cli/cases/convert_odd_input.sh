# Rows without a time make a record that is JSON nevertheless; a pipe and standard input are read; and
# a table of something else is no table of ours.
printf '"timestamp","pid","utime"\n,1,0.5\n,1,0.5\n' >timeless.csv
resource-tracker convert timeless.csv out.json
python3 -c 'import json; m = json.load(open("out.json"))["metadata"]; print(m["start_time"], m["duration"], m["interval"])'
cat timeless.csv | resource-tracker convert /dev/stdin out.csv; echo "exit $?"
resource-tracker convert - out.csv <timeless.csv; echo "exit $?"
resource-tracker convert /dev/stdin - <timeless.csv
printf 'a,b\n1,2\n' >foreign.csv
resource-tracker convert foreign.csv out.csv; echo "exit $?"
ls
printf '"timestamp","pid"\n10.1,1\n10.2,1\n10.23,1\n' >closing.csv
resource-tracker convert closing.csv closing.json 2>/dev/null
python3 -c 'import json; print(json.load(open("closing.json"))["metadata"]["interval"])'
