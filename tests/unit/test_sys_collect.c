/* The system collectors on fixture trees at successive instants, and once on this machine. */
#include "metric/derive.h"
#include "platform/collector.h"
#include "platform/helper_pid.h"
#include "platform/linux/device_table.h"
#include "platform/platform.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A fixture tree in a folder of its own, whose files are overwritten in place from one instant to the
 * next: kept descriptors see the new text, as they do in /proc. */
struct machine {
    char root[64];
    struct trk_context context;
    int64_t now_ns;
    const struct trk_collector_ops *ops;
    void *self;
    struct trk_sample sample[2]; /* before, now */
};

static int64_t machine_clock(void *state)
{
    return *(int64_t *)state;
}

static void run_shell(const char *format, const char *a, const char *b)
{
    char command[1024];
    snprintf(command, sizeof command, format, a, b);
    CHECK(system(command) == 0);
}

static void machine_copy(struct machine *machine, const char *fixture)
{
    run_shell("cp -r " TRK_TESTS "/fixtures/%s/. %s/", fixture, machine->root);
}

static void machine_write(struct machine *machine, const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", machine->root, path);
    FILE *file = fopen(full, "w");
    REQUIRE(file != NULL);
    if (!file)
        return;
    fputs(text, file);
    fclose(file);
}

/* fixture NULL: an empty /proc. */
static void machine_open(struct machine *machine, const char *fixture,
                         const struct trk_collector_ops *ops)
{
    *machine = (struct machine){.now_ns = 1000000000, .ops = ops};
    strcpy(machine->root, "/tmp/trk-sys-XXXXXX");
    REQUIRE(mkdtemp(machine->root) != NULL);
    run_shell("mkdir -p %s/proc/self", machine->root, "");
    if (fixture)
        machine_copy(machine, fixture);
    REQUIRE(trk__context_init(&machine->context, machine->root, NULL) == 0);
    machine->context.clock = (struct trk_clock){
        .monotonic_ns = machine_clock, .realtime_ns = machine_clock, .state = &machine->now_ns};
    machine->context.ticks_per_second = 100;
}

static struct trk_sample *machine_read(struct machine *machine)
{
    if (!machine->self)
        REQUIRE(machine->ops->open(&machine->context, &machine->self) == 0);
    struct trk_sample old = machine->sample[0];
    machine->sample[0] = machine->sample[1];
    machine->sample[1] = old;
    trk__sample_clear(&machine->sample[1]);
    machine->ops->read(machine->self, &machine->sample[1]);
    return &machine->sample[1];
}

static void machine_close(struct machine *machine)
{
    machine->ops->close(machine->self);
    machine->ops->close(NULL);
    trk__sample_done(&machine->sample[0]);
    trk__sample_done(&machine->sample[1]);
    trk__context_done(&machine->context);
    run_shell("rm -rf %s", machine->root, "");
}

#define CHECK_RAW(sample, metric, expected)                                                        \
    do {                                                                                           \
        CHECK(trk__sample_has(sample, TRK_M_##metric));                                            \
        CHECK_U64((sample)->raw[TRK_M_##metric], expected);                                        \
    } while (0)

#define CHECK_ABSENT(sample, metric) CHECK(!trk__sample_has(sample, TRK_M_##metric))

static const struct trk_device *device(struct trk_sample *sample, enum trk_scope scope,
                                       const char *name)
{
    static const struct trk_device none;
    const struct trk_devices *devices = trk__sample_devices(sample, scope);
    for (uint32_t i = 0; i < devices->count; i++)
        if (strcmp(devices->item[i].name, name) == 0)
            return &devices->item[i];
    return &none;
}

#define MS INT64_C(1000000)
#define TICK_NS UINT64_C(10000000)

static void test_cpu(void)
{
    struct machine machine;
    struct trk_row row = {0};
    machine_open(&machine, "system/t0", &trk__sys_cpu_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_UTIME, 1200 * TICK_NS);
    CHECK_RAW(s, SYS_STIME, 300 * TICK_NS);
    CHECK_RAW(s, SYS_CPU, 1500 * TICK_NS);
    CHECK_RAW(s, SYS_CPU_IRQ, 30 * TICK_NS);
    CHECK(s->interrupts_apart);
    CHECK_RAW(s, SYS_CPU_STEAL, 7 * TICK_NS);
    CHECK_RAW(s, SYS_CPU_COUNT, 2);
    CHECK_RAW(s, SYS_CONTEXT_SWITCHES, 5000);
    CHECK_RAW(s, SYS_FORKS_TOTAL, 777);
    CHECK_RAW(s, SYS_PROCS_RUNNING, 3);
    CHECK_RAW(s, SYS_PROCS_BLOCKED, 1);
    CHECK_U64(device(s, TRK_SCOPE_CORE, "cpu1")->raw[0], 600 * TICK_NS);
    CHECK_U64(s->read_ns[TRK_SOURCE_STAT], 1000000000);

    machine_copy(&machine, "system/t1");
    machine.now_ns += 2000 * MS;
    machine_read(&machine);
    trk__derive(&machine.sample[0], &machine.sample[1], 2000 * MS, &row);
    CHECK_NEAR(row.value[TRK_M_SYS_CPU], 1.0, 1e-9);
    CHECK_NEAR(row.value[TRK_M_SYS_CPU_IOWAIT], 0, 0); /* it went back */
    CHECK_NEAR(row.value[TRK_M_SYS_FORKS], 3, 0);
    CHECK_NEAR(row.devices[0].item[1].value[0], 0.35, 1e-9);
    trk__row_done(&row);
    machine_close(&machine);
}

static void test_cpu_256_cores_and_one_offline(void)
{
    struct machine machine;
    static char text[32768];
    size_t len = (size_t)sprintf(text, "cpu  %u 0 0 0 0 0 0 0 0 0\n", 256 * 255 / 2);
    for (unsigned i = 0; i < 256; i++)
        len += (size_t)sprintf(text + len, "cpu%u %u 0 0 123456789 0 0 0 9 0 0\n", i, i);
    sprintf(text + len, "ctxt 1\n");
    machine_open(&machine, NULL, &trk__sys_cpu_ops);
    machine_write(&machine, "proc/stat", text);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_CPU_COUNT, 256);
    CHECK_RAW(s, SYS_CONTEXT_SWITCHES, 1);
    CHECK_U64(s->devices[0].count, 256);
    CHECK_U64(s->devices[0].item[255].raw[0], 255 * TICK_NS);
    machine_read(&machine);

    memcpy(strstr(text, "cpu7 "), "gone ", 5);
    machine_write(&machine, "proc/stat", text);
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_CPU_COUNT, 255);
    CHECK_U64(s->devices[0].count, 256);
    CHECK_U64(s->devices[0].item[7].valid, 0);
    CHECK_U64(s->devices[0].item[255].raw[0], 255 * TICK_NS);
    machine_close(&machine);
}

static void test_cpu_old_kernel(void)
{
    struct machine machine;
    machine_open(&machine, NULL, &trk__sys_cpu_ops);
    machine_write(&machine, "proc/stat", "cpu  730489 22385 568292 986129 4586 3 1686 4721 0 0\n");
    CHECK(!machine_read(&machine)->interrupts_apart);
    machine_write(&machine, "proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\n");
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_CPU, 6 * TICK_NS);
    CHECK_RAW(s, SYS_CPU_IDLE, 4 * TICK_NS);
    CHECK_ABSENT(s, SYS_CPU_IOWAIT);
    CHECK_ABSENT(s, SYS_CPU_IRQ);
    CHECK_ABSENT(s, SYS_CPU_STEAL);
    CHECK_ABSENT(s, SYS_FORKS);
    CHECK_U64(device(s, TRK_SCOPE_CORE, "cpu0")->valid, 1);
    machine_close(&machine);
}

static void test_memory(void)
{
    struct machine machine;
    const uint64_t kib = 1024;
    machine_open(&machine, "system/t0", &trk__sys_mem_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_MEM_TOTAL, 16000000 * kib);
    CHECK_RAW(s, SYS_MEM_USED, 5100000 * kib);
    CHECK_RAW(s, SYS_MEM_USED_PLAIN, 5900000 * kib);
    CHECK_RAW(s, SYS_MEM_USED_UNAVAILABLE, 5000000 * kib);
    CHECK_RAW(s, SYS_MEM_CACHED, 6800000 * kib);
    CHECK_RAW(s, SYS_MEM_CACHED_PLAIN, 6000000 * kib);
    CHECK_RAW(s, SYS_MEM_ACTIVE_ANON, 1000000 * kib);
    CHECK_RAW(s, SYS_SWAP_USED, 500000 * kib);
    CHECK_RAW(s, SYS_MEM_SHMEM, 55555 * kib);
    machine_copy(&machine, "system/t1");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_MEM_FREE, 3999000 * kib);
    machine_close(&machine);
}

static void test_memory_missing_fields(void)
{
    struct machine machine;
    machine_open(&machine, NULL, &trk__sys_mem_ops);
    machine_write(&machine, "proc/meminfo",
                  "MemTotal: 100 kB\nMemFree: 200 kB\nBuffers: 1 kB\nCached: 9 kB\n");
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_MEM_USED, 0); /* saturated */
    CHECK_RAW(s, SYS_MEM_CACHED, 9 * 1024);
    CHECK_ABSENT(s, SYS_MEM_AVAILABLE);
    CHECK_ABSENT(s, SYS_MEM_USED_UNAVAILABLE);
    CHECK_ABSENT(s, SYS_SWAP_USED);
    machine_write(&machine, "proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 30 kB\n");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_MEM_USED_UNAVAILABLE, 70 * 1024);
    CHECK_ABSENT(s, SYS_MEM_USED);
    CHECK_ABSENT(s, SYS_MEM_CACHED);
    machine_close(&machine);
}

static void test_disks(void)
{
    struct machine machine;
    struct trk_row row = {0};
    machine_open(&machine, "system/t0", &trk__sys_disk_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_U64(s->devices[1].count, 2); /* no partition, loop, dm, md, zram */
    /* 4096-byte sectors in hardware, 512 in the file. */
    CHECK_U64(device(s, TRK_SCOPE_DISK, "nvme0n1")->raw[0], 8000 * 512);
    CHECK_U64(device(s, TRK_SCOPE_DISK, "sda")->raw[4], 90000);
    CHECK_RAW(s, SYS_DISK_READ_BYTES, 10000 * 512);

    machine_copy(&machine, "system/t1");
    machine.now_ns += 1000 * MS;
    s = machine_read(&machine);
    trk__derive(&machine.sample[0], s, 1000 * MS, &row);
    CHECK_NEAR(row.value[TRK_M_SYS_DISK_READ_BYTES], 108 * 512, 0);
    CHECK_NEAR(row.value[TRK_M_SYS_DISK_WRITE_BYTES], 416 * 512, 0);
    CHECK_NEAR(row.value[TRK_M_SYS_DISK_WRITE_OPS], 7, 0);
    CHECK_NEAR(row.devices[1].item[0].value[4], 0.25, 1e-9);
    trk__row_done(&row);
    machine_close(&machine);
}

/* sda goes, nvme0n1 goes back, sdb comes: the totals grow by what sdb did and by nothing else. */
static void test_disks_come_and_go(void)
{
    struct machine machine;
    machine_open(&machine, "system/t0", &trk__sys_disk_ops);
    uint64_t before = machine_read(&machine)->raw[TRK_M_SYS_DISK_READ_BYTES];
    machine_copy(&machine, "system/t2");
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_DISK_READ_BYTES, before + 64 * 512);
    CHECK_U64(device(s, TRK_SCOPE_DISK, "sda")->valid, 0);
    machine_copy(&machine, "system/t3");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_DISK_READ_BYTES, before + (64 + 16 + 64) * 512);
    /* sda is back, counting from where it was. */
    machine_copy(&machine, "system/t0");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_DISK_WRITE_OPS, 70 + 3 + 18);
    machine_close(&machine);
}

static void test_disks_without_sys(void)
{
    struct machine machine;
    machine_open(&machine, "system/t1", &trk__sys_disk_ops); /* has no sys/block */
    CHECK_ABSENT(machine_read(&machine), SYS_DISK_READ_BYTES);
    machine_copy(&machine, "system/t0");
    CHECK_RAW(machine_read(&machine), SYS_DISK_READ_BYTES, 10000 * 512);
    machine_close(&machine);
}

static void test_net(void)
{
    struct machine machine;
    machine_open(&machine, "system/t0", &trk__sys_net_ops);
    struct trk_sample *s = machine_read(&machine);
    uint64_t recv = s->raw[TRK_M_SYS_NET_RECV_BYTES];
    uint64_t sent = s->raw[TRK_M_SYS_NET_SENT_BYTES];
    CHECK_U64(recv, 1000000 + UINT64_C(123456789012)); /* not lo */
    CHECK_U64(s->devices[2].count, 2);
    CHECK_U64(device(s, TRK_SCOPE_NET, "eth0")->raw[3], 400);
    machine_copy(&machine, "system/t1");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_NET_RECV_BYTES, recv + 500100);
    CHECK_RAW(s, SYS_NET_SENT_BYTES, sent + 100200);
    /* wlan0 goes with its gigabytes; veth7 comes with a past that is not this interval's. */
    machine_copy(&machine, "system/t2");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_NET_RECV_BYTES, recv + 500100 + 100000);
    machine_copy(&machine, "system/t3");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_NET_RECV_BYTES, recv + 500100 + 100000 + 10);
    CHECK_RAW(s, SYS_NET_SENT_BYTES, sent + 100200 + 1 + 20);
    machine_close(&machine);
}

/* More text than one read gives. */
static void test_net_large(void)
{
    struct machine machine;
    static char text[65536];
    size_t len = 0;
    for (unsigned i = 0; i < 600; i++)
        len += (size_t)sprintf(text + len, "veth%u: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n", i);
    machine_open(&machine, NULL, &trk__sys_net_ops);
    run_shell("mkdir %s/proc/net", machine.root, "");
    machine_write(&machine, "proc/net/dev", text);
    struct trk_sample *s = machine_read(&machine);
    CHECK_U64(s->devices[2].count, 600);
    CHECK_RAW(s, SYS_NET_SENT_BYTES, 1200);
    machine_close(&machine);
}

/* A host that makes a new interface for each container must not fill a table. */
static void test_many_interfaces(void)
{
    struct trk_device_table table;
    char name[16];
    trk__device_table_init(&table, false);
    for (uint64_t i = 0; i < 2 * TRK_DEVICES_MAX; i++) {
        bool is_new;
        snprintf(name, sizeof name, "veth%u", (unsigned)i);
        const uint64_t past[TRK_DEVICE_TOTALS] = {5, 5, 5, 5};
        const uint64_t grown[TRK_DEVICE_TOTALS] = {i, i, i, i};
        trk__device_table_begin(&table);
        struct trk_seen_device *kept =
            trk__device_table_find(&table, trk__cursor("eth0", 4), &is_new);
        CHECK(kept && is_new == (i == 0));
        trk__device_table_grow(&table, kept, grown);
        struct trk_seen_device *passing =
            trk__device_table_find(&table, trk__cursor(name, strlen(name)), &is_new);
        CHECK(passing && is_new);
        trk__device_table_grow(&table, passing, past);
    }
    CHECK_U64(table.total[0], 2 * TRK_DEVICES_MAX - 1 + 5);
    CHECK(table.capacity <= 8);
    trk__device_table_done(&table);
}

static void test_load_and_pressure(void)
{
    struct machine machine;
    machine_open(&machine, "system/t0", &trk__sys_load_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_LOAD1, 125);
    CHECK_RAW(s, SYS_LOAD15, 1207);
    machine_close(&machine);

    machine_open(&machine, "system/t0", &trk__sys_pressure_ops);
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_PSI_CPU_SOME, 1000);
    CHECK_RAW(s, SYS_PSI_MEM_FULL, 400);
    machine_copy(&machine, "system/t1");
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_PSI_CPU_SOME, 251000);
    CHECK_RAW(s, SYS_PSI_IO_FULL, 8008);
    machine_close(&machine);
}

static void test_pressure_missing(void)
{
    struct machine machine;
    machine_open(&machine, NULL, &trk__sys_pressure_ops);
    CHECK_ABSENT(machine_read(&machine), SYS_PSI_CPU_SOME);
    machine_copy(&machine, "system/t0");
    CHECK_ABSENT(machine_read(&machine), SYS_PSI_CPU_SOME); /* not asked again so soon */
    machine.now_ns += 1000 * MS;
    CHECK_RAW(machine_read(&machine), SYS_PSI_CPU_SOME, 1000);
    machine_close(&machine);
}

/* Every collector on a /proc without files, and on files full of nonsense. */
static void test_nothing_and_nonsense(void)
{
    static const char *const files[] = {
        "proc/stat",        "proc/meminfo",     "proc/diskstats",
        "proc/net/dev",     "proc/loadavg",     "proc/pressure/cpu",
        "proc/pressure/io", "proc/self/cgroup", "proc/self/mountinfo",
    };
    for (unsigned i = 0; trk__system_collectors[i]; i++) {
        struct machine machine;
        machine_open(&machine, NULL, trk__system_collectors[i]);
        struct trk_sample *s = machine_read(&machine);
        for (unsigned w = 0; w < TRK_VALID_WORDS; w++)
            CHECK_U64(s->valid[w], 0);
        run_shell("mkdir %s/proc/net %s/proc/pressure", machine.root, machine.root);
        for (unsigned f = 0; f < sizeof files / sizeof *files; f++)
            machine_write(&machine, files[f],
                          "\n:\n \t99999999999999999999 \\04 - -\n\xff\xfe cpu 1\n0::\n");
        machine.now_ns += 60000 * MS;
        s = machine_read(&machine);
        for (unsigned w = 0; w < TRK_VALID_WORDS; w++)
            CHECK(s->valid[w] == 0 || machine.ops == &trk__sys_net_ops);
        machine_close(&machine);
    }
}

/* Space, by a statvfs that the test answers. */
static struct fake_space {
    const char *point;
    unsigned long blocks, free;
} fake[24];
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER; /* the thread asks too */
static unsigned fake_calls;
static bool fake_autofs_asked;
static sem_t remote_gate;
static _Atomic int remote_waiting;

static int fake_answer(const char *point, struct statvfs *ret_stat)
{
    fake_calls++;
    if (strcmp(point, "/misc") == 0)
        fake_autofs_asked = true;
    for (unsigned i = 0; i < sizeof fake / sizeof *fake && fake[i].point; i++) {
        if (strcmp(fake[i].point, point) != 0)
            continue;
        *ret_stat = (struct statvfs){.f_frsize = 4096,
                                     .f_bsize = 65536,
                                     .f_blocks = fake[i].blocks,
                                     .f_bfree = fake[i].free + 1000,
                                     .f_bavail = fake[i].free,
                                     .f_files = fake[i].blocks / 4};
        return 0;
    }
    return -ENOENT;
}

static int fake_statvfs(const struct trk_context *context, const char *point,
                        struct statvfs *ret_stat)
{
    (void)context;
    if (strncmp(point, "/nfs", 4) == 0) {
        remote_waiting++;
        sem_wait(&remote_gate);
        remote_waiting--;
    }
    pthread_mutex_lock(&fake_lock);
    int code = fake_answer(point, ret_stat);
    pthread_mutex_unlock(&fake_lock);
    return code;
}

static void set_fake(const struct fake_space *list, size_t count)
{
    pthread_mutex_lock(&fake_lock);
    memset(fake, 0, sizeof fake);
    memcpy(fake, list, count * sizeof *list);
    fake_calls = 0;
    pthread_mutex_unlock(&fake_lock);
}

static void test_space(void)
{
    static const struct fake_space list[] = {
        {"/", 1000000, 400000},
        {"/data disk", 5000000, 1000000},
        {"/mnt/bind", 1000000, 400000},
        {"/tmp", 0, 0}, /* no blocks */
        {"/misc", 77, 7},
        {"/var/lib/docker/overlay2/abc/merged", 1000000, 399990},
        {"/var/lib/docker/overlay2/def/merged", 900000, 300000}, /* on a disk out of view */
        {"/mnt/over", 300, 100},
        {"/runner", 30, 10},
        {"/run", 11, 11},
        {"/dev", 11, 11},
    };
    struct machine machine;
    machine_open(&machine, "system/t0", &trk__sys_space_ops);
    machine.context.statvfs = fake_statvfs;
    set_fake(list, sizeof list / sizeof *list);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_SPACE_TOTAL, (1000000 + 5000000 + 900000 + 300 + 30) * UINT64_C(4096));
    CHECK_RAW(s, SYS_SPACE_FREE, (400000 + 1000000 + 300000 + 100 + 10) * UINT64_C(4096));
    CHECK_RAW(s, SYS_SPACE_USED, (600000 + 4000000 + 600000 + 200 + 20) * UINT64_C(4096));
    CHECK(!fake_autofs_asked);

    fake[8].free = 20; /* /runner */
    unsigned calls = fake_calls;
    machine.now_ns += 99 * MS;
    s = machine_read(&machine);
    CHECK_U64(fake_calls, calls);
    CHECK_RAW(s, SYS_SPACE_FREE, (400000 + 1000000 + 300000 + 100 + 10) * UINT64_C(4096));
    machine.now_ns += 1 * MS;
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_SPACE_FREE, (400000 + 1000000 + 300000 + 100 + 20) * UINT64_C(4096));
    machine_close(&machine);
}

/* Reads at a later time, and returns the total. */
static uint64_t space_after(struct machine *machine, int64_t ns)
{
    machine->now_ns += ns;
    return machine_read(machine)->raw[TRK_M_SYS_SPACE_TOTAL];
}

static void *no_work(void *nothing)
{
    return nothing;
}

static size_t thread_count(void)
{
    glob_t tasks;
    REQUIRE(glob("/proc/self/task/*", 0, NULL, &tasks) == 0);
    size_t count = tasks.gl_pathc;
    globfree(&tasks);
    return count;
}

/* A dead server holds up neither a read nor the end; what stands below its mount point waits with it. */
static void test_space_remote(void)
{
    static const struct fake_space list[] = {
        {"/", 100, 40}, {"/nfs", 5000, 1000}, {"/nfs/disk", 30, 3}};
    struct machine machine;
    pthread_t first; /* with it the thread sanitizer starts one of its own, which stays */
    REQUIRE(pthread_create(&first, NULL, no_work, NULL) == 0 && pthread_join(first, NULL) == 0);
    size_t threads = thread_count();
    machine_open(&machine, NULL, &trk__sys_space_ops);
    machine_write(&machine, "proc/self/mountinfo",
                  "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:50 / /nfs rw - nfs4 srv:/x rw\n"
                  "3 2 8:2 / /nfs/disk rw - ext4 /dev/sdb rw\n");
    machine.context.statvfs = fake_statvfs;
    sem_init(&remote_gate, 0, 0);
    set_fake(list, 3);
    CHECK_RAW(machine_read(&machine), SYS_SPACE_TOTAL, 100 * 4096);
    WAIT_UNTIL(remote_waiting == 1);
    machine.now_ns += 2000 * MS;
    CHECK_RAW(machine_read(&machine), SYS_SPACE_TOTAL, 100 * 4096);
    for (unsigned i = 0; i < 4; i++)
        sem_post(&remote_gate);
    const uint64_t all = (100 + 5000 + 30) * UINT64_C(4096);
    WAIT_UNTIL(space_after(&machine, 100 * MS) == all);

    /* Closed while it hangs. */
    while (sem_trywait(&remote_gate) == 0)
        ;
    WAIT_UNTIL(space_after(&machine, 1000 * MS) && remote_waiting == 1);
    machine_close(&machine);
    for (unsigned i = 0; i < 16; i++)
        sem_post(&remote_gate);
    WAIT_UNTIL(thread_count() == threads); /* it lets go of its memory: the leak checker looks */
}

static void test_space_zfs(void)
{
    static const struct fake_space list[] = {
        {"/", 100, 40}, {"/tank", 1000, 900}, {"/tank/home", 1100, 900}};
    struct machine machine;
    machine_open(&machine, NULL, &trk__sys_space_ops);
    machine_write(&machine, "proc/self/mountinfo",
                  "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:50 / /tank rw - zfs tank rw\n"
                  "3 2 0:51 / /tank/home rw - zfs tank/home rw\n");
    machine.context.statvfs = fake_statvfs;
    set_fake(list, 3);
    char zpool[256], path[256];
    snprintf(zpool, sizeof zpool, "%s/zpool", machine.root);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", machine.root);
    REQUIRE(symlink(TRK_TESTS "/fixtures/zpool/zpool", zpool) == 0 && setenv("PATH", path, 1) == 0);
    /* From the mounts: both data sets' use, the pool's free space once. */
    CHECK_RAW(machine_read(&machine), SYS_SPACE_TOTAL, (100 + 100 + 200 + 900) * 4096);
    CHECK_RAW(&machine.sample[1], SYS_SPACE_FREE, (40 + 900) * 4096);
    machine_write(&machine, "gate", "");
    const uint64_t pool_total = 100 * 4096 + 1000000;
    WAIT_UNTIL(space_after(&machine, 100 * MS) == pool_total);
    CHECK_RAW(&machine.sample[1], SYS_SPACE_FREE, 40 * 4096 + 600000);
    CHECK(!trk__helper_is_ours(0) && !trk__helper_is_ours(getpid()));
    machine_close(&machine);
    siginfo_t child;
    WAIT_UNTIL(waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD);
}

static void test_cgroup_v2(void)
{
    struct machine machine;
    machine_open(&machine, "cgroup/v2", &trk__cgroup_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_CG_CPU_LIMIT, 1500000000); /* on the middle ancestor */
    CHECK_RAW(s, SYS_CG_MEM_LIMIT, UINT64_C(8589934592));
    CHECK_RAW(s, SYS_CG_CPU, UINT64_C(5000000000));
    CHECK_RAW(s, SYS_CG_THROTTLED, 250000000);
    CHECK_RAW(s, SYS_CG_MEM_USED, 240000000);
    CHECK_RAW(s, SYS_CG_OOM_KILLS, 1);

    /* A limit that changes is seen within seconds; a move to another cgroup too. */
    machine_write(&machine, "sys/fs/cgroup/batch.slice/cpu.max", "50000 100000\n");
    machine.now_ns += 5000 * MS;
    CHECK_RAW(machine_read(&machine), SYS_CG_CPU_LIMIT, 500000000);
    machine_write(&machine, "proc/self/cgroup", "0::/\n");
    machine.now_ns += 5000 * MS;
    s = machine_read(&machine);
    CHECK_RAW(s, SYS_CG_CPU, UINT64_C(99000000000));
    CHECK_ABSENT(s, SYS_CG_CPU_LIMIT); /* the root has no such files */
    CHECK_ABSENT(s, SYS_CG_THROTTLED);
    CHECK_ABSENT(s, SYS_CG_MEM_USED);
    CHECK_ABSENT(s, SYS_CG_OOM_KILLS);
    machine_close(&machine);
}

static void test_cgroup_v1(void)
{
    struct machine machine;
    machine_open(&machine, "cgroup/v1", &trk__cgroup_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_CG_CPU_LIMIT, UINT64_C(2500000000));
    CHECK_RAW(s, SYS_CG_MEM_LIMIT, UINT64_C(2147483648));
    CHECK_RAW(s, SYS_CG_CPU, 123456789);
    CHECK_RAW(s, SYS_CG_THROTTLED, 777);
    CHECK_RAW(s, SYS_CG_MEM_USED, 0); /* more inactive cache than use: read at two instants */
    CHECK_RAW(s, SYS_CG_OOM_KILLS, 4);
    machine_close(&machine);
}

static void test_cgroup_container(void)
{
    struct machine machine;
    struct trk_limits limits;
    machine_open(&machine, "cgroup/container", &trk__cgroup_ops);
    struct trk_sample *s = machine_read(&machine);
    CHECK_RAW(s, SYS_CG_CPU_LIMIT, 500000000);
    CHECK_RAW(s, SYS_CG_MEM_LIMIT, 536870912);
    CHECK_RAW(s, SYS_CG_CPU, 42);
    /* Our memory cgroup is not in view: its ancestor's limit binds, its ancestor's use is not ours. */
    CHECK_ABSENT(s, SYS_CG_MEM_USED);
    trk__limits_read(&machine.context, &limits);
    CHECK(limits.has_cpu && limits.has_memory);
    CHECK_NEAR(limits.cpu_cores, 0.5, 0);
    CHECK_U64(limits.memory_bytes, 536870912);
    machine_write(&machine, "proc/self/mountinfo", "");
    trk__limits_read(&machine.context, &limits);
    CHECK(!limits.has_cpu && !limits.has_memory);
    machine_close(&machine);
}

/* In a changed root "/" need not be a mount point, and its space is then not this machine's to tell. */
static bool root_is_mount_point(void)
{
    char line[4096], mount_point[4096];
    bool found = false;
    FILE *mounts = fopen("/proc/self/mountinfo", "r");
    while (mounts && fgets(line, sizeof line, mounts))
        found |= sscanf(line, "%*d %*d %*s %*s %4095s", mount_point) == 1 &&
                 strcmp(mount_point, "/") == 0;
    if (mounts)
        fclose(mounts);
    return found;
}

/* This machine: what it says must fit what libc says. */
static void test_live(void)
{
    struct trk_context context;
    struct trk_sample sample = {0};
    void *self[16];
    unsigned count = 0;
    REQUIRE(trk__context_init(&context, NULL, NULL) == 0);
    for (; trk__system_collectors[count]; count++) {
        REQUIRE(trk__system_collectors[count]->open(&context, &self[count]) == 0);
        trk__system_collectors[count]->read(self[count], &sample);
    }
    CHECK_RAW(&sample, SYS_CPU_COUNT, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    CHECK_U64(sample.devices[0].count, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    CHECK_NEAR((double)sample.raw[TRK_M_SYS_MEM_TOTAL],
               (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), 64e6);
    CHECK(sample.raw[TRK_M_SYS_MEM_USED] < sample.raw[TRK_M_SYS_MEM_TOTAL]);
    struct statvfs root;
    CHECK(statvfs("/", &root) == 0);
    if (root_is_mount_point())
        CHECK(sample.raw[TRK_M_SYS_SPACE_TOTAL] >= (uint64_t)root.f_blocks * root.f_frsize);
    CHECK_U64(sample.raw[TRK_M_SYS_SPACE_TOTAL],
              sample.raw[TRK_M_SYS_SPACE_USED] + sample.raw[TRK_M_SYS_SPACE_FREE]);
    CHECK(trk__sample_has(&sample, TRK_M_SYS_NET_RECV_BYTES));
    CHECK(trk__sample_has(&sample, TRK_M_SYS_LOAD1));
    for (unsigned i = 0; i < count; i++)
        trk__system_collectors[i]->close(self[i]);
    trk__sample_done(&sample);
    trk__context_done(&context);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_cpu),
        TEST(test_cpu_256_cores_and_one_offline),
        TEST(test_cpu_old_kernel),
        TEST(test_memory),
        TEST(test_memory_missing_fields),
        TEST(test_disks),
        TEST(test_disks_come_and_go),
        TEST(test_disks_without_sys),
        TEST(test_net),
        TEST(test_net_large),
        TEST(test_many_interfaces),
        TEST(test_load_and_pressure),
        TEST(test_pressure_missing),
        TEST(test_nothing_and_nonsense),
        TEST(test_space),
        TEST(test_space_remote),
        TEST(test_space_zfs),
        TEST(test_cgroup_v2),
        TEST(test_cgroup_v1),
        TEST(test_cgroup_container),
        TEST(test_live),
    };
    return CHECK_MAIN(argc, argv, tests);
}
