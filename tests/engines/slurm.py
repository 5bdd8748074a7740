"""A real Slurm of four nodes in a sandbox: munged, MariaDB, slurmdbd, slurmctld, and a slurmd for each node.

Each node has its own host name, PID namespace, /proc and /tmp, so that PIDs of different nodes are equal as on real
machines; /home is common to all, as a cluster's file server is. Debian's packages, nothing of the machine's own Slurm
is read or written.
"""

import json
import os
import re
from pathlib import Path

import helpers
from sandbox import PATH, Sandbox, need_program, own_cgroups

NODES = ("node1", "node2", "node3", "node4")
CPUS = min(2, os.cpu_count())
NODE_MIB = 2000
PROGRAMS = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "srun", "sbatch", "sacct")
FINISHED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL"}

CONFIGURATION = f"""
ClusterName=fleet
SlurmctldHost=control
SlurmUser=slurm
AuthType=auth/munge
CredType=cred/munge
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.%n.pid
SlurmdSpoolDir=/var/spool/slurm/%n
StateSaveLocation=/var/spool/slurm/control
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=200
KillWait=5
OverTimeLimit=0
InactiveLimit=0
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
JobAcctGatherType=jobacct_gather/cgroup
JobAcctGatherFrequency=task=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=control
NodeName=node[1-4] Port=[17001-17004] CPUs={CPUS} RealMemory={NODE_MIB} State=UNKNOWN
PartitionName=debug Nodes=node[1-4] Default=YES MaxTime=INFINITE State=UP
"""
CGROUP = """
CgroupPlugin=cgroup/v1
CgroupAutomount=no
CgroupMountpoint=/sys/fs/cgroup
ConstrainRAMSpace=yes
ConstrainCores=yes
"""
DATABASE = """
AuthType=auth/munge
DbdHost=control
SlurmUser=slurm
PidFile=/run/slurm/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct
"""


def need_slurm():
    for program in PROGRAMS:
        need_program(program)
    names = {place.name for group in own_cgroups() for place in (group, *group.parents)}
    helpers.need({"memory", "freezer", "cpuset"} <= names, "Slurm 22.05 limits jobs with cgroup version 1 here; with"
                 " version 2 it asks systemd for a scope, and a sandbox has no systemd")


def cpu_seconds(text):
    """sacct's [[days-]hours:]minutes:seconds.fraction"""
    days, _, clock = text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds + 86400 * int(days or 0)


def memory_bytes(text):
    """Of a figure with one of Slurm's suffixes, or none."""
    return float(text[:-1]) * 1024 ** " KMG".index(text[-1]) if text[-1] in "KMG" else float(text)


class Slurm:
    """The cluster. `home` is outside what /home is inside."""

    def __init__(self, folder):
        self.home = Path(folder)
        self.sandbox = Sandbox(folder, ["control", *NODES])
        self.nodes = {}
        try:
            self.configure()
            self.start_control()
            for node in NODES:
                self.start_node(node)
            self.wait_for_nodes()
        except BaseException as failure:
            self.close()
            raise RuntimeError(f"Slurm did not start; the last lines of its logs:\n{self.logs()}") from failure

    def close(self):
        self.sandbox.close()

    def logs(self):
        parts = []
        for path in sorted(self.home.glob("*.log")):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-10:]
            parts.append(f"{path.name}:\n  " + "\n  ".join(lines))
        return "\n".join(parts)

    # ---- start ----

    def configure(self):
        """Files of daemons: below the sandbox's own /etc, /run and /var."""
        self.put("/etc/slurm/slurm.conf", CONFIGURATION)
        self.put("/etc/slurm/cgroup.conf", CGROUP)
        self.put("/etc/slurm/plugstack.conf", "")
        self.put("/etc/slurm/slurmdbd.conf", DATABASE)
        script = """set -e
            chown slurm /etc/slurm/slurmdbd.conf; chmod 600 /etc/slurm/slurmdbd.conf
            head -c 128 /dev/urandom > /etc/munge/munge.key
            chown munge:munge /etc/munge /etc/munge/munge.key; chmod 700 /etc/munge; chmod 400 /etc/munge/munge.key
            for folder in /run/munge /var/log/munge /var/lib/munge; do
                mkdir -p $folder; chown munge:munge $folder; chmod 755 $folder
            done
            mkdir -p /run/slurm /var/spool/slurm/control /run/mysqld /var/lib/mysql
            chown slurm /run/slurm /var/spool/slurm/control"""
        self.sandbox.run("sh", "-c", script)

    def put(self, path, text):
        self.sandbox.run("sh", "-c", f"mkdir -p {os.path.dirname(path)} && printf %s \"$1\" > {path}", "sh", text)

    def start_control(self):
        start = self.sandbox.start
        start("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground", log="munged.log")
        # An empty folder is enough without grant tables: no tables of MariaDB's own are needed.
        start("mariadbd", "--no-defaults", "--user=root", "--datadir=/var/lib/mysql", "--skip-networking",
              "--socket=/run/mysqld/mysqld.sock", "--innodb-flush-log-at-trx-commit=0", "--skip-grant-tables",
              log="mariadbd.log")
        self.wait_for("the database", "test", "-S", "/run/mysqld/mysqld.sock")
        self.wait_for("munged", "munge", "-n")
        start("slurmdbd", "-D", log="slurmdbd.log")
        self.wait_for("slurmdbd", "sacctmgr", "-n", "list", "cluster")
        self.sandbox.run("sacctmgr", "-i", "add", "cluster", "fleet", check=False)  # slurmctld may be first
        start("slurmctld", "-D", log="slurmctld.log")
        self.wait_for("slurmctld", "scontrol", "ping")

    def start_node(self, node):
        """In namespaces of its own below the sandbox's."""
        prepare = ("set -e; hostname $0; mount -t tmpfs -o mode=1777 $TRK_ENGINES /tmp; mkdir -p /var/spool/slurm/$0;"
                   " slurmd -D -N $0 & wait; exit 1")
        self.nodes[node] = self.sandbox.start("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child",
                                              "--mount-proc", "sh", "-c", prepare, node, log=f"{node}.log")

    def wait_for(self, what, *command):
        """Until the command succeeds."""
        helpers.wait_until(lambda: self.sandbox.run(*command, check=False).returncode == 0, what, 60)

    def wait_for_nodes(self):
        def idle():
            lines = self.sandbox.run("sinfo", "--noheader", "-N", "-o", "%N %T").stdout.split("\n")
            return {line for line in lines if line.endswith(" idle")} >= {f"{node} idle" for node in NODES}
        helpers.wait_until(idle, "all nodes idle", 60)


class Job:
    """A job that was submitted."""

    def __init__(self, user, number):
        self.user = user
        self.number = number

    def scontrol(self):
        """Fields of `scontrol show job`, which Slurm forgets some minutes after the end."""
        text = self.user.run("scontrol", "show", "job", "--oneliner", self.number).stdout
        return dict(re.findall(r"(\S+?)=(\S*)", text))

    def state(self):
        return self.scontrol().get("JobState")

    def wait_state(self, *states, patience=60):
        return helpers.wait_until(lambda: (found := self.state()) in states and found,
                                  f"job {self.number} in {states}", patience)

    def wait(self, patience=60):
        """The state in which it finished."""
        return self.wait_state(*FINISHED, patience=patience)

    def sacct(self, *fields):
        """{step: [values]} when the accounting has the end; it gets them some seconds later."""
        def finished():
            words = ["sacct", "--noheader", "--parsable2", f"--jobs={self.number}", "--format=JobID,State,End,"
                     + ",".join(fields)]
            lines = [line.split("|") for line in self.user.run(*words).stdout.splitlines()]
            complete = lines and all(line[1].split()[0] in FINISHED and line[2] != "Unknown" for line in lines)
            return complete and {line[0].partition(".")[2]: line[3:] for line in lines}
        return helpers.wait_until(finished, f"job {self.number} in the accounting", 60)


class User:
    """The cluster's ordinary user, logged in on the host `control`. `home` and `folder` are one, outside and inside."""

    def __init__(self, cluster, name):
        self.cluster = cluster
        self.folder = f"/home/tester/{name}"
        self.home = cluster.home / "tester" / name
        self.home.mkdir()
        os.chown(self.home, 4242, 4242)

    def run(self, *command, **options):
        """A command to its end; the exit code is the caller's to check."""
        options.setdefault("timeout", 120)
        env = {"HOME": self.folder, "PATH": f"/home/bin:{PATH}", **options.pop("env", {})}
        return self.cluster.sandbox.run(*command, user=True, cwd=self.folder, check=False, env=env, **options)

    def srun(self, *words, **options):
        return self.run("srun", "--quiet", *words, **options)

    def submit(self, script, *options):
        """A batch job."""
        path = self.home / "script.sh"
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        done = self.run("sbatch", "--parsable", "--output=out-%j", *options, "script.sh")
        assert done.returncode == 0, done.stderr
        return Job(self, done.stdout.strip())

    def runs(self):
        """What `runs` lists on this host, oldest first."""
        done = self.run("resource-tracker", "runs", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["runs"]
