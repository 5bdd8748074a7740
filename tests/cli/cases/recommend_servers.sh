# A minute on two cores and 1000 MiB, on a machine of AWS.
python3 - <<'END'
import json
rows = [{"timestamp": 1000.0 + i, "pid": 1, "children": 0, "utime": 2.0, "stime": 0.0, "cpu_usage": 2.0,
         "memory": 1024000.0, "read_bytes": 0, "write_bytes": 0, "gpu_usage": 0.0, "gpu_vram": 0.0,
         "gpu_utilized": 0} for i in range(60)]
def run(name, cloud):
    json.dump({"metadata": {"version": 1, "interval": 1, "start_time": 1000.0, "stop_time": 1060.0, "duration": 61.0},
               "server_info": None, "cloud_info": cloud, "process_metrics": rows, "system_metrics": []}, open(name, "w"))
run("aws.json", {"vendor": "aws", "instance_type": "m5.xlarge", "region": "us-east-1"})
run("paris.json", {"vendor": "aws", "instance_type": "m5.xlarge", "region": "eu-west-3"})
END
export XDG_STATE_HOME=$PWD/state XDG_DATA_HOME=$PWD/data
from() { resource-tracker recommend "$@" | sed -n '/^Cheapest servers/,$p'; }
from aws.json
from --servers 2 --vendor gcp --region europe-west4 --spot --dedicated paris.json
from --arch i386 --gpu-model A100 aws.json
for wrong in "--filter compliance_framework_id=soc2" "--filter countries" "--region fsn1" "--vendor hcloud --region us-east-1" \
    "--vendor ibm" "--servers 0" "--gpu-model H9000" "--vendor aws --vendor gcp" \
    "--filter compliance_framework_id=soc2 --filter countries=DE"; do
    resource-tracker recommend $wrong aws.json
    echo "exit $?"
done
# A need that nobody knows is not passed for one that is met.
sed 's/"memory": 1024000.0/"memory": null/g' aws.json >unmeasured.json
resource-tracker recommend unmeasured.json | grep '^Memory'
# A table of the user's own that is damaged is told; the one that is built in answers.
mkdir -p data/resource-tracker
echo nonsense >data/resource-tracker/catalog.gz
from aws.json | sed -n 3p
# What is pasted names no server; a wrong filter is told nonetheless.
for filter in colour=blue vendor_id=aws; do
    resource-tracker recommend --paste docker --filter $filter aws.json | cut -d' ' -f1-2
done
