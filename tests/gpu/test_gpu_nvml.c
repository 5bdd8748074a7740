/* GPUs through NVML, with the library of fake_nvml.c in its three kinds: every figure from the script to the
 * sample. */
#include "check.h"
#include "fake_root.h"
#include "gpu/gpu.h"
#include "gpu/gpu_reach.h"
#include "gpu/gpu_reading.h"
#include "scanned_job.h"

#include <dirent.h>
#include <errno.h>
#include <time.h>

static const int64_t SECOND = 1000000000;

struct world {
    struct fake_root root;
    struct trk_context context;
    struct scanned_job job;
    struct trk_gpu *gpu;
    struct trk_sample sample;
    int64_t now_ns;
    char script[128];
};

static int64_t fake_now(void *state)
{
    return ((struct world *)state)->now_ns;
}

static int64_t real_now(void *state)
{
    (void)state;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

static void member(struct world *w, int pid, int ppid, unsigned long start)
{
    fake_process_write(&w->root,
                       &(struct fake_process){
                           .pid = pid, .ppid = ppid, .start = start, .minflt = 1, .resident = 10});
}

static void write_script(struct world *w, const char *text)
{
    fake_root_write(&w->root, "script", "%s", text);
}

/* A machine with the job 100 and its child 101. */
static void world_init(struct world *w, const char *script)
{
    *w = (struct world){.now_ns = 100 * SECOND};
    fake_root_init(&w->root);
    fake_root_write(&w->root, "dev/nvidiactl", " ");
    member(w, 100, 1, 1);
    member(w, 101, 100, 2);
    write_script(w, script);
    snprintf(w->script, sizeof w->script, "%s/script", w->root.path);
    setenv("FAKE_NVML", w->script, 1);
    REQUIRE(trk__context_init(&w->context, w->root.path, NULL) == 0);
    w->context.clock =
        (struct trk_clock){.monotonic_ns = fake_now, .realtime_ns = real_now, .state = w};
    w->context.ticks_per_second = 100;
    scanned_job_init(&w->job, &w->context, getpid());
    REQUIRE(scanned_job_start(&w->job, 100, false) == 0);
    CHECK(scanned_job_find(&w->job) == 0);
    CHECK_U64(w->job.account.table.count, 2);
}

static void world_open(struct world *w, const char *wanted, const char *script)
{
    world_init(w, script);
    REQUIRE(trk__gpu_open(&w->context, wanted, &w->gpu) == 0);
}

static void world_done(struct world *w)
{
    trk__gpu_close(w->gpu);
    trk__sample_done(&w->sample);
    scanned_job_done(&w->job);
    trk__context_done(&w->context);
    fake_root_done(&w->root);
}

static void fill(struct world *w, int64_t wait_ns)
{
    trk__sample_clear(&w->sample);
    trk__gpu_fill(w->gpu,
                  &(struct trk_gpu_look){.table = &w->job.account.table,
                                         .wait_ns = wait_ns,
                                         .age_limit_ns = 5 * SECOND},
                  &w->sample);
}

/* A second passes, and a pass is made. */
static void tick(struct world *w)
{
    w->now_ns += SECOND;
    trk__gpu_ask(w->gpu, &w->job.account.table);
    fill(w, 5 * SECOND);
}

static const struct trk_device *device(const struct world *w, unsigned index)
{
    static const struct trk_device nothing;
    const struct trk_devices *devices = &w->sample.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    CHECK(index < devices->count);
    return index < devices->count ? &devices->item[index] : &nothing;
}

static unsigned device_count(const struct world *w)
{
    return w->sample.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST].count;
}

#define CHECK_FIGURE(w, index, id, expected)                                                       \
    do {                                                                                           \
        CHECK(device(w, index)->valid >> TRK_GPU_SLOT(id) & 1);                                    \
        CHECK_U64(device(w, index)->raw[TRK_GPU_SLOT(id)], expected);                              \
    } while (0)
#define CHECK_NO_FIGURE(w, index, id) CHECK(!(device(w, index)->valid >> TRK_GPU_SLOT(id) & 1))
#define CHECK_RAW(w, id, expected)                                                                 \
    do {                                                                                           \
        CHECK(trk__sample_has(&(w)->sample, TRK_M_##id));                                          \
        CHECK_U64((w)->sample.raw[TRK_M_##id], expected);                                          \
    } while (0)
#define CHECK_ABSENT(w, id) CHECK(!trk__sample_has(&(w)->sample, TRK_M_##id))

static const char one_gpu[] = "devices 1\n"
                              "gpu 0 utilization 42 17\n"
                              "gpu 0 memory 16000000000 500000000 3000000000\n"
                              "gpu 0 board 61 123456 777000\n"
                              "gpu 0 clock 1410 1215\n"
                              "gpu 0 throttle 4\n"
                              "gpu 0 process 100 1000000000\n"
                              "gpu 0 process 101 500000000\n"
                              "gpu 0 process 999 1500000000\n"
                              "gpu 0 sample 100 20 0\n"
                              "gpu 0 sample 999 15 0\n";

static void every_figure_arrives(void)
{
    struct world w;
    world_open(&w, NULL, one_gpu);
    tick(&w);
    CHECK_U64(device_count(&w), 1);
    CHECK_TEXT(device(&w, 0)->name, "0000:10:00.0");
    CHECK_FIGURE(&w, 0, UTILIZATION, 420000);
    CHECK_FIGURE(&w, 0, MEMORY_BUSY, 170000);
    CHECK_FIGURE(&w, 0, MEMORY_TOTAL, 16000000000);
    CHECK_FIGURE(&w, 0, MEMORY_USED, 3000000000);
    CHECK_FIGURE(&w, 0, TEMPERATURE, 61000);
    CHECK_FIGURE(&w, 0, POWER, 123456);
    CHECK_FIGURE(&w, 0, ENERGY, 777000);
    CHECK_FIGURE(&w, 0, CLOCK, 1410000000);
    CHECK_FIGURE(&w, 0, MEMORY_CLOCK, 1215000000);
    CHECK_FIGURE(&w, 0, THROTTLE, 4);
    CHECK_FIGURE(&w, 0, PROCESSES, 3);
    CHECK_FIGURE(&w, 0, JOB_UTILIZATION, 200000); /* 101 has no sample: it is idle */
    CHECK_FIGURE(&w, 0, JOB_MEMORY, 1500000000);
    CHECK_FIGURE(&w, 0, AGE, 0);
    CHECK_RAW(&w, SYS_GPU_USAGE, 420000);
    CHECK_RAW(&w, SYS_GPU_VRAM, 3000000000);
    CHECK_RAW(&w, SYS_GPU_UTILIZED, 1);
    CHECK_RAW(&w, PROC_GPU_USAGE, 200000);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1500000000);
    CHECK_RAW(&w, PROC_GPU_UTILIZED, 1);
    struct trk_gpu_info info;
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0);
    CHECK_TEXT(info.name, "NVIDIA Fake 0");
    CHECK_TEXT(info.uuid, "GPU-00000000-1111-2222-3333-444455556666");
    CHECK_TEXT(info.pci, "0000:10:00.0");
    CHECK_TEXT(info.vendor, "NVIDIA");
    CHECK_TEXT(info.source, "nvml");
    CHECK_NEAR(info.memory_bytes, 16e9, 0);
    CHECK(trk__gpu_info(w.gpu, 1, &info) == -ERANGE);
    CHECK(trk__gpu_news(w.gpu) == NULL);
    world_done(&w);
}

static void no_device_is_zero(void)
{
    struct world w;
    world_open(&w, NULL, "devices 0\n");
    tick(&w);
    CHECK_U64(device_count(&w), 0);
    CHECK_RAW(&w, SYS_GPU_USAGE, 0);
    CHECK_RAW(&w, PROC_GPU_VRAM, 0);
    world_done(&w);
}

/* More than the four that pmon sees, and more than NVML had room for in its first days. */
static void many_devices_add_up(void)
{
    struct world w;
    char script[8192];
    for (unsigned count = 8; count <= 16; count += 8) {
        int len = snprintf(script, sizeof script, "devices %u\n", count);
        for (unsigned i = 0; i < count; i++)
            len += snprintf(script + len, sizeof script - (size_t)len,
                            "gpu %u utilization %u 0\ngpu %u memory 100 10 %u\n"
                            "gpu %u process 100 %u\ngpu %u sample 100 %u 0\n",
                            i, i * 5, i, i, i, i, i, i * 5);
        world_open(&w, NULL, script);
        tick(&w);
        CHECK_U64(device_count(&w), count);
        uint64_t pairs = count * (count - 1) / 2;
        CHECK_RAW(&w, SYS_GPU_USAGE, pairs * 50000);
        CHECK_RAW(&w, SYS_GPU_UTILIZED, count - 1); /* the first is idle */
        CHECK_RAW(&w, PROC_GPU_USAGE, pairs * 50000);
        CHECK_RAW(&w, PROC_GPU_VRAM, pairs);
        CHECK_RAW(&w, PROC_GPU_UTILIZED, count - 1);
        world_done(&w);
    }
}

static void samples_are_taken_once_and_nonsense_dropped(void)
{
    struct world w;
    world_open(&w, NULL,
               "devices 1\ngpu 0 utilization 50 0\ngpu 0 process 100 1\ngpu 0 process 101 1\n"
               "gpu 0 sample 100 10 400000\ngpu 0 sample 100 30 100000\n"
               "gpu 0 sample 101 4711 0\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 300000); /* the newest stands; 4711 % is no share */
    /* Older than what was seen: NOT_FOUND, which means idle. */
    write_script(&w, "devices 1\ngpu 0 utilization 50 0\ngpu 0 process 100 1\n"
                     "gpu 0 sample 100 30 9000000\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 0);
    CHECK_RAW(&w, PROC_GPU_UTILIZED, 0);
    world_done(&w);
}

static void a_process_in_two_lists_counts_once(void)
{
    struct world w;
    world_open(&w, NULL,
               "devices 1\ngpu 0 utilization 5 0\ngpu 0 process 100 700\ngpu 0 graphics 100 700\n"
               "gpu 0 graphics 101 50\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 750);
    CHECK_FIGURE(&w, 0, PROCESSES, 2);
    world_done(&w);
}

static void what_is_not_told_is_absent(void)
{
    struct world w;
    world_open(&w, NULL,
               "devices 1\ngpu 0 memory 100 0 50\ngpu 0 process 100 -1\n"
               "gpu 0 error nvmlDeviceGetPowerUsage 3\ngpu 0 error nvmlDeviceGetTemperature 999\n");
    tick(&w);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    CHECK_RAW(&w, PROC_GPU_USAGE, 0);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_RAW(&w, SYS_GPU_VRAM, 50);
    CHECK_NO_FIGURE(&w, 0, POWER);
    CHECK_NO_FIGURE(&w, 0, TEMPERATURE);
    CHECK_NO_FIGURE(&w, 0, UTILIZATION);
    world_done(&w);
    world_open(&w, NULL,
               "devices 1\ngpu 0 utilization 9 0\n"
               "gpu 0 error nvmlDeviceGetComputeRunningProcesses_v3 4\n");
    tick(&w);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    CHECK_RAW(&w, SYS_GPU_USAGE, 90000);
    world_done(&w);
    world_open(&w, NULL,
               "devices 1\ngpu 0 utilization 9 0\ngpu 0 process 100 5\ngpu 0 process 999 1\n"
               "gpu 0 error nvmlDeviceGetProcessUtilization 3\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 5);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    write_script(&w, "devices 1\ngpu 0 utilization 9 0\ngpu 0 process 100 5\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 90000); /* alone there: what the GPU does is the job's */
    struct trk_gpu_info info;
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0 && info.is_exclusive);
    world_done(&w);
}

/* More than the first guess of the room that a list takes. */
static void long_lists_are_read_whole(void)
{
    struct world w;
    char *script = malloc(1 << 16);
    int len = snprintf(script, 1 << 16, "devices 1\ngpu 0 utilization 99 0\n");
    for (int pid = 1000; pid < 1500; pid++)
        len += snprintf(script + len, (1 << 16) - (size_t)len,
                        "gpu 0 process %d 1\ngpu 0 sample %d 1 0\n", pid, pid);
    snprintf(script + len, (1 << 16) - (size_t)len, "gpu 0 process 100 7\ngpu 0 sample 100 9 0\n");
    world_open(&w, NULL, script);
    tick(&w);
    CHECK_FIGURE(&w, 0, PROCESSES, 501);
    CHECK_RAW(&w, PROC_GPU_VRAM, 7);
    CHECK_RAW(&w, PROC_GPU_USAGE, 90000);
    free(script);
    world_done(&w);
}

static void instances_count_and_their_gpu_does_not(void)
{
    struct world w;
    world_open(&w, NULL,
               "devices 2\ngpu 0 mig 2\ngpu 0 memory 1000 0 900\ngpu 0 board 50 100000 1\n"
               "gpu 0.0 memory 400 0 100\ngpu 0.1 memory 400 0 300\ngpu 0.1 process 101 250\n"
               "gpu 1 utilization 10 0\ngpu 1 memory 1000 0 7\n");
    tick(&w);
    CHECK_U64(device_count(&w), 4);
    CHECK_TEXT(device(&w, 0)->name, "0000:10:00.0");
    CHECK_TEXT(device(&w, 1)->name, "0000:10:00.0/mig0");
    CHECK_TEXT(device(&w, 2)->name, "0000:10:00.0/mig1");
    CHECK_FIGURE(&w, 0, POWER, 100000);
    CHECK_NO_FIGURE(&w, 0, JOB_MEMORY);
    CHECK_FIGURE(&w, 2, JOB_MEMORY, 250);
    CHECK_FIGURE(&w, 1, JOB_MEMORY, 0);
    CHECK_RAW(&w, SYS_GPU_VRAM, 407);
    CHECK_RAW(&w, PROC_GPU_VRAM, 250);
    CHECK_ABSENT(&w, SYS_GPU_USAGE); /* no driver tells how busy an instance is */
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    struct trk_gpu_info info;
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0 && info.is_split && !info.is_instance);
    CHECK(trk__gpu_info(w.gpu, 2, &info) == 0 && info.is_instance);
    CHECK_TEXT(info.uuid, "MIG-00000000-1111-2222-3333-000000000001");
    CHECK_TEXT(info.pci, "0000:10:00.0");
    world_done(&w);
}

static void a_lost_device_is_told_and_left_out(void)
{
    struct world w;
    world_open(&w, NULL,
               "devices 2\ngpu 0 utilization 10 0\ngpu 0 memory 9 0 1\n"
               "gpu 1 utilization 20 0\ngpu 1 memory 9 0 2\ngpu 1 process 100 2\n");
    tick(&w);
    CHECK_RAW(&w, SYS_GPU_USAGE, 300000);
    write_script(&w, "devices 2\ngpu 0 utilization 10 0\ngpu 0 memory 9 0 1\ngpu 1 lost\n");
    tick(&w);
    CHECK_RAW(&w, SYS_GPU_USAGE, 100000);
    CHECK_RAW(&w, SYS_GPU_VRAM, 1);
    CHECK_RAW(&w, PROC_GPU_VRAM, 0);
    CHECK_NO_FIGURE(&w, 1, UTILIZATION);
    CHECK_NO_FIGURE(&w, 1, JOB_MEMORY);
    CHECK_TEXT(trk__gpu_news(w.gpu), "GPU 0000:11:00.0 is lost: the driver can't reach it");
    CHECK(trk__gpu_news(w.gpu) == NULL);
    struct trk_gpu_info info;
    CHECK(trk__gpu_info(w.gpu, 1, &info) == 0 && info.is_lost);
    world_done(&w);
}

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

static void a_hanging_driver_holds_nothing_up(void)
{
    struct world w;
    world_open(&w, NULL, one_gpu);
    tick(&w);
    fake_root_write(&w.root, "script", "%shang nvmlDeviceGetUtilizationRates\n", one_gpu);
    int64_t start_ns = monotonic_ns();
    w.now_ns += SECOND;
    trk__gpu_ask(w.gpu, &w.job.account.table);
    fill(&w, SECOND / 20);
    CHECK(monotonic_ns() - start_ns < SECOND / 2);
    CHECK_FIGURE(&w, 0, UTILIZATION, 420000); /* the last that is known ... */
    CHECK_FIGURE(&w, 0, AGE, 1000000000);     /* ... and its age */
    CHECK_RAW(&w, PROC_GPU_VRAM, 1500000000);
    start_ns = monotonic_ns();
    for (unsigned i = 0; i < 6; i++) {
        w.now_ns += SECOND;
        trk__gpu_ask(w.gpu, &w.job.account.table);
        fill(&w, 10 * SECOND); /* it is overdue: no second wait */
    }
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    CHECK_NO_FIGURE(&w, 0, UTILIZATION);
    CHECK_TEXT(trk__gpu_news(w.gpu), "the GPU driver does not answer");
    world_done(&w);
    CHECK(monotonic_ns() - start_ns < SECOND / 2);
}

static void a_driver_that_hangs_at_once_leaves_all_absent(void)
{
    struct world w;
    world_open(&w, NULL, "devices 1\nhang nvmlInit_v2\n");
    int64_t start_ns = monotonic_ns();
    w.now_ns += SECOND;
    trk__gpu_ask(w.gpu, &w.job.account.table);
    fill(&w, SECOND / 20);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    world_done(&w);
    CHECK(monotonic_ns() - start_ns < SECOND / 2);
}

/* The driver may take seconds to be ready, and columns are fixed with the first row. */
static void devices_have_their_places_before_the_driver_is_ready(void)
{
    struct world w;
    world_open(&w, NULL,
               "devices 2\ngpu 0 utilization 10 0\ngpu 1 utilization 20 0\nslow nvmlInit_v2 300\n");
    fake_root_write(&w.root, "proc/driver/nvidia/gpus/0000:11:00.0/information", " ");
    fake_root_write(&w.root, "proc/driver/nvidia/gpus/0000:10:00.0/information", " ");
    w.now_ns += SECOND;
    trk__gpu_ask(w.gpu, &w.job.account.table);
    fill(&w, 0);
    CHECK_U64(device_count(&w), 2);
    CHECK_TEXT(device(&w, 0)->name, "0000:10:00.0");
    CHECK_NO_FIGURE(&w, 1, UTILIZATION);
    fill(&w, 5 * SECOND);
    CHECK_U64(device_count(&w), 2);
    CHECK_FIGURE(&w, 1, UTILIZATION, 200000);
    world_done(&w);
}

static void a_number_that_is_used_again_is_another_process(void)
{
    struct world w;
    struct timespec boot;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    unsigned long later = (unsigned long)(boot.tv_sec + 60) * 100;
    world_open(&w, NULL, one_gpu);
    member(&w, 102, 100, later); /* born after the driver was asked */
    fake_root_write(&w.root, "script", "%sgpu 0 process 102 9999\ngpu 0 sample 102 60 0\n",
                    one_gpu);
    CHECK(scanned_job_find(&w.job) == 0);
    CHECK_U64(w.job.account.table.count, 3);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1500000000);
    CHECK_RAW(&w, PROC_GPU_USAGE, 200000);
    world_done(&w);
    /* Alive when the driver was asked, but not yet when the sample was taken. */
    world_open(&w, NULL, "devices 1\n");
    member(&w, 103, 100, (unsigned long)(boot.tv_sec * 100 + boot.tv_nsec / 10000000));
    CHECK(scanned_job_find(&w.job) == 0);
    fake_root_write(&w.root, "script",
                    "devices 1\ngpu 0 utilization 60 0\ngpu 0 process 103 5\n"
                    "gpu 0 sample 103 60 %d\n",
                    900000);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 5);
    CHECK_RAW(&w, PROC_GPU_USAGE, 0);
    world_done(&w);
}

static void only_the_wanted_count(void)
{
    static const char three[] =
        "devices 3\ngpu 0 utilization 10 0\ngpu 1 utilization 20 0\ngpu 2 utilization 40 0\n"
        "gpu 0 process 100 1\ngpu 1 process 100 2\ngpu 2 process 100 4\n";
    static const struct {
        const char *wanted;
        uint64_t usage, memory;
        unsigned count;
    } cases[] = {
        {"1", 200000, 2, 1},
        {"0,2", 500000, 5, 2},
        {"GPU-00000001-1111-2222-3333-444455556666", 200000, 2, 1},
        {"gpu-00000002, 0000:10:00.0", 500000, 5, 2},
        {"0,00,0", 100000, 1, 1},
        {"7", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        world_open(&w, cases[i].wanted, three);
        tick(&w);
        CHECK_U64(device_count(&w), cases[i].count);
        CHECK_RAW(&w, SYS_GPU_USAGE, cases[i].usage);
        CHECK_RAW(&w, PROC_GPU_VRAM, cases[i].memory);
        if (!cases[i].count)
            CHECK_TEXT(trk__gpu_news(w.gpu),
                       "no GPU is called 7; there are 0 to 2, or give a uuid or a PCI address");
        world_done(&w);
    }
}

static void link_to(const struct world *w, const char *name, const char *target)
{
    char path[256];
    fake_root_remove(&w->root, name); /* not to write through an older link */
    fake_root_write(&w->root, name, " ");
    snprintf(path, sizeof path, "%s/%s", w->root.path, name);
    CHECK(unlink(path) == 0 && symlink(target, path) == 0);
}

static void in_a_container_only_what_is_the_jobs_alone(void)
{
    static const char foreign[] =
        "devices 1\ngpu 0 utilization 30 0\ngpu 0 memory 1000 0 640\n"
        "gpu 0 process 73001 600\ngpu 0 sample 73001 30 0\n"; /* 101, as the host counts */
    struct world w;
    struct trk_gpu_info info;
    world_init(&w, foreign);
    link_to(&w, "proc/self/ns/pid", "pid:[4026532999]");
    link_to(&w, "proc/101/fd/3", "/dev/nvidia0");
    link_to(&w, "proc/101/fd/4", "/dev/nvidia0");
    fake_root_write(&w.root, "proc/100/fd/0", " ");
    REQUIRE(trk__gpu_open(&w.context, NULL, &w.gpu) == 0);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 300000);
    CHECK_RAW(&w, PROC_GPU_VRAM, 640);
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0 && info.is_exclusive);
    CHECK(trk__gpu_news(w.gpu) == NULL);

    link_to(&w, "proc/555/fd/3", "/dev/nvidia0"); /* somebody else in the container */
    tick(&w);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    CHECK_RAW(&w, SYS_GPU_USAGE, 300000);
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0 && !info.is_exclusive);
    const char *news = trk__gpu_news(w.gpu);
    CHECK(news && strstr(news, "another PID namespace"));

    fake_root_remove(&w.root, "proc/555"); /* ... and somebody outside of it */
    fake_root_write(&w.root, "script", "%sgpu 0 process 73002 40\n", foreign);
    tick(&w);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);

    fake_root_remove(&w.root, "proc/101/fd"); /* the job has nothing to do with it */
    fake_root_write(&w.root, "proc/101/fd/0", " ");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 0);
    CHECK_RAW(&w, PROC_GPU_USAGE, 0);
    world_done(&w);
}

static void write_environ(struct world *w, int pid, const char *first, const char *second)
{
    char name[64], path[256];
    snprintf(name, sizeof name, "proc/%d/environ", pid);
    fake_root_write(&w->root, name, " ");
    snprintf(path, sizeof path, "%s/%s", w->root.path, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fwrite(first, strlen(first) + 1, 1, file) == 1);
    CHECK(file && fwrite(second, strlen(second) + 1, 1, file) == 1);
    if (file)
        fclose(file);
}

/* Somebody in the container can't be looked into: what the job may use is told by its environment and its cgroup. */
static void in_a_container_with_others_that_are_hidden(void)
{
    static const char foreign[] =
        "devices 2\ngpu 0 utilization 30 0\ngpu 0 memory 1000 0 640\ngpu 1 utilization 50 0\n"
        "gpu 1 memory 1000 0 700\ngpu 0 process 73001 600\ngpu 1 process 73009 700\n";
    struct world w;
    struct trk_gpu_info info;
    world_init(&w, foreign);
    link_to(&w, "proc/self/ns/pid", "pid:[4026532999]");
    link_to(&w, "proc/101/fd/3", "/dev/nvidia0");
    fake_root_write(&w.root, "proc/100/fd/0", " ");
    fake_root_write(&w.root, "proc/777/fd", " "); /* no folder: it can't be listed */
    REQUIRE(trk__gpu_open(&w.context, NULL, &w.gpu) == 0);
    tick(&w);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);

    /* Both processes are shown the first device alone: the second is not theirs, and the first is theirs as a whole. */
    write_environ(&w, 100, "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=0");
    write_environ(&w, 101, "B=2", "CUDA_VISIBLE_DEVICES=GPU-00000000");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 640);
    CHECK_RAW(&w, PROC_GPU_USAGE, 300000);
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0 && info.is_exclusive);
    CHECK(trk__gpu_info(w.gpu, 1, &info) == 0 && !info.is_exclusive);

    /* More users than the job has holders: not known. */
    fake_root_write(&w.root, "script", "%sgpu 0 process 73002 40\n", foreign);
    tick(&w);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);

    /* The cgroup lets the job use neither. */
    fake_root_write(&w.root, "proc/100/cgroup", "5:devices:/docker/x\n");
    fake_root_write(&w.root, "sys/fs/cgroup/devices/docker/x/devices.list", "c 1:3 rwm\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 0);
    world_done(&w);
}

static void lists_of_visible_devices(void)
{
    struct trk_gpu_device devices[2] = {{.minor = 0}, {.minor = 1}};
    struct trk_gpu_reading reading = {.device = devices, .device_count = 2};
    strcpy(devices[0].info.uuid, "GPU-aaaa1111");
    strcpy(devices[1].info.uuid, "GPU-bbbb2222");
    CHECK(trk__gpu_is_visible("0,1", &reading, 1, true) == 1);
    CHECK(trk__gpu_is_visible("0,1", &reading, 1, false) == -1);
    CHECK(trk__gpu_is_visible("0,7,1", &reading, 1, true) ==
          0); /* CUDA stops at the first that is none */
    CHECK(trk__gpu_is_visible("GPU-bbbb", &reading, 1, false) == 1);
    CHECK(trk__gpu_is_visible("GPU-bbbb", &reading, 0, false) == 0);
    CHECK(trk__gpu_is_visible("", &reading, 0, true) == 0);
    CHECK(trk__gpu_is_visible("-1", &reading, 0, true) == 0);
    CHECK(trk__gpu_is_allowed("c 1:3 rwm\nc 195:1 rw\n", 1));
    CHECK(!trk__gpu_is_allowed("c 1:3 rwm\nc 195:1 rw\n", 0));
    CHECK(trk__gpu_is_allowed("c 195:* rwm\n", 3) && trk__gpu_is_allowed("a *:* rwm\n", 3));
    CHECK(!trk__gpu_is_allowed("", 0) && !trk__gpu_is_allowed("b 195:0 rwm\n", 0));
}

/* Some drivers translate pids: who holds the device is named by its number here. */
static void a_container_with_a_driver_that_knows_it(void)
{
    struct world w;
    world_init(&w, "devices 1\ngpu 0 utilization 30 0\ngpu 0 memory 1000 0 640\n"
                   "gpu 0 process 101 600\ngpu 0 process 555 40\ngpu 0 sample 101 25 0\n");
    link_to(&w, "proc/self/ns/pid", "pid:[4026532999]");
    link_to(&w, "proc/101/fd/3", "/dev/nvidia0");
    link_to(&w, "proc/555/fd/3", "/dev/nvidia0");
    fake_root_write(&w.root, "proc/100/fd/0", " ");
    REQUIRE(trk__gpu_open(&w.context, NULL, &w.gpu) == 0);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 250000);
    CHECK_RAW(&w, PROC_GPU_VRAM, 600);
    world_done(&w);
}

static void a_job_that_is_over_keeps_what_was_seen(void)
{
    struct world w;
    world_open(&w, NULL, one_gpu);
    tick(&w);
    struct trk_gpu_look look = {.table = &w.job.account.table,
                                .age_limit_ns = 5 * SECOND,
                                .job_is_over = true,
                                .since_ns = w.now_ns - 1};
    trk__sample_clear(&w.sample);
    trk__gpu_fill(w.gpu, &look, &w.sample);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1500000000);
    look.since_ns = w.now_ns; /* that was in an interval before */
    trk__sample_clear(&w.sample);
    trk__gpu_fill(w.gpu, &look, &w.sample);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    CHECK_RAW(&w, SYS_GPU_VRAM, 3000000000);
    world_done(&w);
}

static unsigned thread_count(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/task");
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static void without_a_gpu_nothing_is_started(void)
{
    struct world w;
    world_init(&w, one_gpu);
    fake_root_remove(&w.root, "dev");
    fake_root_write(&w.root, "sys/class/drm/renderD128/device/vendor",
                    "0x1af4\n"); /* a VM's display */
    unsigned threads = thread_count();
    REQUIRE(trk__gpu_open(&w.context, NULL, &w.gpu) == 0);
    tick(&w);
    CHECK_U64(thread_count(), threads);
    CHECK_RAW(&w, SYS_GPU_USAGE, 0);
    CHECK_RAW(&w, SYS_GPU_VRAM, 0);
    CHECK_RAW(&w, PROC_GPU_USAGE, 0);
    CHECK_RAW(&w, PROC_GPU_UTILIZED, 0);
    CHECK(trk__gpu_news(w.gpu) == NULL);
    world_done(&w);
}

static void a_failing_start_is_explained(void)
{
    struct world w;
    setenv("PATH", "/nowhere", 1);
    world_open(&w, NULL, "init 9\n");
    tick(&w);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    CHECK_TEXT(trk__gpu_news(w.gpu), "NVIDIA GPUs can't be read: Driver Not Loaded");
    world_done(&w);
}

static void the_first_version_gives_what_it_has(void)
{
    struct world w;
    world_open(&w, NULL, one_gpu);
    tick(&w);
    CHECK_TEXT(device(&w, 0)->name, "0000:10:00.0");
    CHECK_FIGURE(&w, 0, UTILIZATION, 420000);
    CHECK_FIGURE(&w, 0, MEMORY_USED, 3500000000);
    CHECK_FIGURE(&w, 0, THROTTLE, 4);
    CHECK_FIGURE(&w, 0, PROCESSES, 3);
    CHECK_NO_FIGURE(&w, 0, ENERGY);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1500000000);
    CHECK_ABSENT(&w, PROC_GPU_USAGE); /* the job is there, and how busy it is nobody tells */
    CHECK_RAW(&w, SYS_GPU_USAGE, 420000);
    world_done(&w);
}

static void without_a_required_function_all_is_absent(void)
{
    struct world w;
    setenv("PATH", "/nowhere", 1);
    world_open(&w, NULL, one_gpu);
    tick(&w);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    const char *news = trk__gpu_news(w.gpu);
    CHECK(news && strstr(news, "libnvidia-ml.so.1 has no nvmlDeviceGetCount_v2"));
    world_done(&w);
}

int main(int argc, char *argv[])
{
    static const struct check_test full[] = {
        TEST(every_figure_arrives),
        TEST(no_device_is_zero),
        TEST(many_devices_add_up),
        TEST(samples_are_taken_once_and_nonsense_dropped),
        TEST(a_process_in_two_lists_counts_once),
        TEST(what_is_not_told_is_absent),
        TEST(long_lists_are_read_whole),
        TEST(instances_count_and_their_gpu_does_not),
        TEST(a_lost_device_is_told_and_left_out),
        TEST(devices_have_their_places_before_the_driver_is_ready),
        TEST(a_number_that_is_used_again_is_another_process),
        TEST(only_the_wanted_count),
        TEST(in_a_container_only_what_is_the_jobs_alone),
        TEST(in_a_container_with_others_that_are_hidden),
        TEST(lists_of_visible_devices),
        TEST(a_container_with_a_driver_that_knows_it),
        TEST(a_job_that_is_over_keeps_what_was_seen),
        TEST(without_a_gpu_nothing_is_started),
        TEST(a_failing_start_is_explained),
        /* Last: the threads that hang stay, and so does what they hold. */
        TEST(a_hanging_driver_holds_nothing_up),
        TEST(a_driver_that_hangs_at_once_leaves_all_absent),
    };
    static const struct check_test old[] = {TEST(the_first_version_gives_what_it_has)};
    static const struct check_test broken[] = {TEST(without_a_required_function_all_is_absent)};
    if (strcmp(FAKE_KIND, "full") == 0)
        return CHECK_MAIN(argc, argv, full);
    if (strcmp(FAKE_KIND, "old") == 0)
        return CHECK_MAIN(argc, argv, old);
    return CHECK_MAIN(argc, argv, broken);
}
