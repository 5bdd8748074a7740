/* GPUs of DRM drivers: fdinfo of amdgpu (old and new), i915 and xe, and whole machines as fixture trees. */
#include "check.h"
#include "fake_root.h"
#include "gpu/drm_fdinfo.h"
#include "gpu/gpu.h"
#include "gpu/gpu_reading.h"
#include "gpu/gpu_select.h"
#include "scanned_job.h"

#include <errno.h>
#include <malloc.h>

static const int64_t SECOND = 1000000000;

/* ---- the text ---- */

static struct trk_drm_client parsed(const char *text)
{
    struct trk_drm_client client = {.engine_count = 0};
    CHECK(trk__drm_fdinfo_parse(trk__cursor(text, strlen(text)), &client));
    return client;
}

static const struct trk_drm_engine *engine(const struct trk_drm_client *client, const char *name)
{
    static const struct trk_drm_engine none;
    for (unsigned i = 0; i < client->engine_count; i++)
        if (strcmp(client->engine[i].name, name) == 0)
            return &client->engine[i];
    CHECK(!"no such engine");
    return &none;
}

static void amdgpu_is_read(void)
{
    struct trk_drm_client client =
        parsed("pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t500\n"
               "drm-driver:\tamdgpu\ndrm-client-id:\t42\n"
               "drm-pdev:\t0000:03:00.0\npasid:\t32770\n"
               "drm-total-cpu:\t0\ndrm-total-gtt:\t2 MiB\n"
               "drm-total-vram:\t300 MiB\ndrm-resident-vram:\t200 MiB\n"
               "drm-resident-gtt:\t2 MiB\ndrm-memory-vram:\t204800 KiB\n"
               "drm-memory-gtt: \t2048 KiB\n"
               "drm-engine-gfx:\t1000 ns\ndrm-engine-compute:\t2000 ns\n");
    CHECK_TEXT(client.pci, "0000:03:00.0");
    CHECK(client.has_id && client.memory_known);
    CHECK_U64(client.memory_bytes, UINT64_C(200) << 20);
    CHECK_U64(client.engine_count, 2);
    CHECK_U64(engine(&client, "gfx")->ns, 1000);
    CHECK_U64(engine(&client, "compute")->ns, 2000);
}

static void amdgpu_of_old_is_read(void)
{
    struct trk_drm_client client =
        parsed("pos:\t0\nflags:\t02100002\nmnt_id:\t26\n"
               "pdev:\t0000:03:00.0\npasid:\t32770\n"
               "vram mem:\t204800 kB\ngtt mem:\t2048 kB\ncpu mem:\t0 kB\n"
               "gfx0:\t12.50%\ncompute0:\t1.25%\ncompute1:\t2.50%\n");
    CHECK_TEXT(client.pci, "0000:03:00.0");
    CHECK_U64(client.id, 32770);
    CHECK_U64(client.memory_bytes, UINT64_C(200) << 20);
    CHECK_U64(engine(&client, "gfx")->share_millionths, 125000);
    CHECK_U64(engine(&client, "compute")->share_millionths, 37500);
}

static void i915_is_read(void)
{
    struct trk_drm_client client =
        parsed("drm-driver:\ti915\ndrm-client-id:\t7\n"
               "drm-pdev:\t0000:00:02.0\n"
               "drm-total-system0:\t5000 KiB\n"
               "drm-resident-system0:\t4000 KiB\n"
               "drm-total-local0:\t300 KiB\ndrm-resident-local0:\t100 KiB\n"
               "drm-engine-render:\t25662044495 ns\n"
               "drm-engine-copy:\t0 ns\ndrm-engine-video:\t10 ns\n"
               "drm-engine-capacity-video:\t2\n");
    CHECK_U64(client.id, 7);
    CHECK_U64(client.memory_bytes, 100 << 10);
    CHECK_U64(engine(&client, "render")->ns, 25662044495);
    CHECK_U64(engine(&client, "video")->capacity, 2);
    CHECK_U64(engine(&client, "copy")->capacity, 1);
}

static void xe_is_read(void)
{
    struct trk_drm_client client =
        parsed("drm-driver:\txe\ndrm-client-id:\t2\n"
               "drm-pdev:\t0000:03:00.0\ndrm-resident-vram0:\t64 MiB\n"
               "drm-total-gtt:\t192 KiB\n"
               "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n"
               "drm-cycles-vcs:\t4\ndrm-total-cycles-vcs:\t8\n"
               "drm-engine-capacity-vcs:\t2\n");
    CHECK_U64(client.memory_bytes, 64 << 20);
    CHECK(engine(&client, "rcs")->has_cycles);
    CHECK_U64(engine(&client, "rcs")->cycles, 28257900);
    CHECK_U64(engine(&client, "rcs")->total_cycles, 7655183225);
    CHECK_U64(engine(&client, "vcs")->capacity, 2);
}

static void other_descriptors_are_not_taken(void)
{
    static const char *const texts[] = {"", "pos:\t0\nflags:\t02\nmnt_id:\t1\nino:\t7\n",
                                        "drm-driver:\tvc4\ndrm-client-id:\t1\n", ":\n::\n\n"};
    struct trk_drm_client client;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(!trk__drm_fdinfo_parse(trk__cursor(texts[i], strlen(texts[i])), &client));
}

static void shares_come_from_two_looks(void)
{
    struct trk_drm_engine before = {.has_ns = true, .ns = 500, .capacity = 2};
    struct trk_drm_engine now = {.has_ns = true, .ns = 1500, .capacity = 2};
    uint64_t share;
    CHECK(trk__drm_engine_share(&before, &now, 1000, &share));
    CHECK_U64(share, 500000);
    CHECK(trk__drm_engine_share(NULL, &now, 3000, &share)); /* born since: all of it */
    CHECK_U64(share, 250000);
    CHECK(!trk__drm_engine_share(&before, &now, 0, &share));
    CHECK(trk__drm_engine_share(&now, &before, 1000, &share)); /* a counter that went back */
    CHECK_U64(share, 0);
    before = (struct trk_drm_engine){
        .has_cycles = true, .cycles = 10, .total_cycles = 100, .capacity = 1};
    now = (struct trk_drm_engine){
        .has_cycles = true, .cycles = 35, .total_cycles = 200, .capacity = 1};
    CHECK(trk__drm_engine_share(&before, &now, 1, &share));
    CHECK_U64(share, 250000);
    CHECK(!trk__drm_engine_share(&now, &now, 1, &share));
    CHECK(!trk__drm_engine_share(NULL, &now, 1, &share));
}

/* ---- machines ---- */

struct world {
    struct fake_root root;
    struct trk_context context;
    struct scanned_job job;
    struct trk_gpu *gpu;
    struct trk_sample sample;
    int64_t now_ns;
};

static int64_t fake_now(void *state)
{
    return ((struct world *)state)->now_ns;
}

static void link_to(const struct world *w, const char *name, const char *target)
{
    char path[256];
    fake_root_remove(&w->root, name); /* not to write through an older link */
    fake_root_write(&w->root, name, " ");
    snprintf(path, sizeof path, "%s/%s", w->root.path, name);
    CHECK(unlink(path) == 0 && symlink(target, path) == 0);
}

static void world_init(struct world *w)
{
    *w = (struct world){.now_ns = 100 * SECOND};
    fake_root_init(&w->root);
    for (int pid = 100; pid <= 101; pid++) {
        char name[64];
        fake_process_write(
            &w->root,
            &(struct fake_process){
                .pid = pid, .ppid = pid == 100 ? 1 : 100, .start = 1, .minflt = 1, .resident = 1});
        snprintf(name, sizeof name, "proc/%d/fd/0", pid);
        link_to(w, name, "/dev/null");
    }
}

static void world_start(struct world *w)
{
    REQUIRE(trk__context_init(&w->context, w->root.path, NULL) == 0);
    w->context.clock =
        (struct trk_clock){.monotonic_ns = fake_now, .realtime_ns = fake_now, .state = w};
    w->context.ticks_per_second = 100;
    scanned_job_init(&w->job, &w->context, getpid());
    REQUIRE(scanned_job_start(&w->job, 100, false) == 0);
    CHECK(scanned_job_find(&w->job) == 0);
    REQUIRE(trk__gpu_open(&w->context, NULL, &w->gpu) == 0);
}

static void world_done(struct world *w)
{
    trk__gpu_close(w->gpu);
    trk__sample_done(&w->sample);
    scanned_job_done(&w->job);
    trk__context_done(&w->context);
    fake_root_done(&w->root);
}

static void tick(struct world *w)
{
    w->now_ns += SECOND;
    trk__gpu_ask(w->gpu, &w->job.account.table);
    trk__sample_clear(&w->sample);
    trk__gpu_fill(w->gpu,
                  &(struct trk_gpu_look){.table = &w->job.account.table,
                                         .wait_ns = 10 * SECOND,
                                         .age_limit_ns = 5 * SECOND},
                  &w->sample);
}

static const struct trk_device *device(const struct world *w, unsigned index)
{
    static const struct trk_device nothing;
    const struct trk_devices *devices = &w->sample.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST];
    CHECK(index < devices->count);
    return index < devices->count ? &devices->item[index] : &nothing;
}

#define CHECK_FIGURE(w, index, id, expected)                                                       \
    do {                                                                                           \
        CHECK(device(w, index)->valid >> TRK_GPU_SLOT(id) & 1);                                    \
        CHECK_U64(device(w, index)->raw[TRK_GPU_SLOT(id)], expected);                              \
    } while (0)
#define CHECK_RAW(w, id, expected)                                                                 \
    do {                                                                                           \
        CHECK(trk__sample_has(&(w)->sample, TRK_M_##id));                                          \
        CHECK_U64((w)->sample.raw[TRK_M_##id], expected);                                          \
    } while (0)
#define CHECK_ABSENT(w, id) CHECK(!trk__sample_has(&(w)->sample, TRK_M_##id))

#define AMD "sys/class/drm/renderD128/device/"

static void amd_machine(struct world *w)
{
    world_init(w);
    fake_root_write(&w->root, AMD "vendor", "0x1002\n");
    fake_root_write(&w->root, AMD "device", "0x744c\n");
    fake_root_write(&w->root, AMD "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
    fake_root_write(&w->root, AMD "unique_id", "a1b2c3d4e5f60718\n");
    fake_root_write(&w->root, AMD "gpu_busy_percent", "37\n");
    fake_root_write(&w->root, AMD "mem_busy_percent", "12\n");
    fake_root_write(&w->root, AMD "mem_info_vram_used", "1073741824\n");
    fake_root_write(&w->root, AMD "mem_info_vram_total", "25753026560\n");
    fake_root_write(&w->root, AMD "hwmon/hwmon3/temp1_input", "54000\n");
    fake_root_write(&w->root, AMD "hwmon/hwmon3/power1_average", "93000000\n");
    fake_root_write(&w->root, AMD "hwmon/hwmon3/freq1_input", "2304000000\n");
    fake_root_write(&w->root, AMD "hwmon/hwmon3/freq2_input", "1249000000\n");
}

static void client_at(const struct world *w, int pid, int fd, const char *node, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/fd/%d", pid, fd);
    link_to(w, name, node);
    snprintf(name, sizeof name, "proc/%d/fdinfo/%d", pid, fd);
    fake_root_write(&w->root, name, "%s", text);
}

static void an_amd_machine(void)
{
    struct world w;
    amd_machine(&w);
    client_at(&w, 101, 5, "/dev/dri/renderD128",
              "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t9\ndrm-memory-vram:\t1000 KiB\n"
              "drm-engine-gfx:\t5000000000 ns\n");
    world_start(&w);
    tick(&w);
    CHECK_TEXT(device(&w, 0)->name, "0000:03:00.0");
    CHECK_FIGURE(&w, 0, UTILIZATION, 370000);
    CHECK_FIGURE(&w, 0, MEMORY_BUSY, 120000);
    CHECK_FIGURE(&w, 0, MEMORY_USED, 1073741824);
    CHECK_FIGURE(&w, 0, MEMORY_TOTAL, 25753026560);
    CHECK_FIGURE(&w, 0, TEMPERATURE, 54000);
    CHECK_FIGURE(&w, 0, POWER, 93000);
    CHECK_FIGURE(&w, 0, CLOCK, 2304000000);
    CHECK_FIGURE(&w, 0, MEMORY_CLOCK, 1249000000);
    CHECK_RAW(&w, SYS_GPU_USAGE, 370000);
    CHECK_RAW(&w, SYS_GPU_VRAM, 1073741824);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1000 << 10);
    CHECK_ABSENT(&w, PROC_GPU_USAGE); /* one look at a counter tells no rate */
    struct trk_gpu_info info;
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0);
    CHECK_TEXT(info.name, "AMD GPU 0x744c");
    CHECK_TEXT(info.uuid, "a1b2c3d4e5f60718");
    CHECK_TEXT(info.vendor, "AMD");

    /* The same client in a second descriptor and in a second process counts once. */
    static const char later[] = "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t9\n"
                                "drm-memory-vram:\t1000 KiB\ndrm-engine-gfx:\t5250000000 ns\n";
    client_at(&w, 101, 5, "/dev/dri/renderD128", later);
    client_at(&w, 101, 6, "/dev/dri/renderD128", later);
    client_at(&w, 100, 6, "/dev/dri/renderD128", later);
    client_at(&w, 777, 6, "/dev/dri/renderD128",
              "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t10\ndrm-memory-vram:\t5 KiB\n"
              "drm-engine-gfx:\t1 ns\n"); /* not the job's */
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1000 << 10);
    CHECK_RAW(&w, PROC_GPU_USAGE, 250000);
    CHECK_RAW(&w, PROC_GPU_UTILIZED, 1);
    CHECK_FIGURE(&w, 0, JOB_UTILIZATION, 250000);
    world_done(&w);
}

static void an_old_amd_machine(void)
{
    struct world w;
    amd_machine(&w);
    client_at(&w, 101, 5, "/dev/dri/card0",
              "pdev:\t0000:03:00.0\npasid:\t32770\nvram mem:\t2000 kB\ngtt mem:\t8 kB\n"
              "gfx0:\t12.50%\ncompute0:\t25.00%\n");
    world_start(&w);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 2000 << 10);
    CHECK_RAW(&w, PROC_GPU_USAGE, 250000); /* the busiest of its engines */
    world_done(&w);
}

static void a_gpu_that_sleeps_is_left_asleep(void)
{
    struct world w;
    amd_machine(&w);
    fake_root_write(&w.root, AMD "power/runtime_status", "suspended\n");
    world_start(&w);
    tick(&w);
    CHECK_RAW(&w, SYS_GPU_USAGE, 0);
    CHECK_RAW(&w, SYS_GPU_VRAM, 0);
    CHECK(!(device(&w, 0)->valid >> TRK_GPU_SLOT(TEMPERATURE) & 1));
    fake_root_write(&w.root, AMD "power/runtime_status", "active\n");
    tick(&w);
    CHECK_RAW(&w, SYS_GPU_USAGE, 370000);
    world_done(&w);
}

/* What is computed through KFD is in no engine's time; memory is told all the same. */
static void an_amd_machine_that_computes(void)
{
    static const char text[] = "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t9\n"
                               "drm-memory-vram:\t1000 KiB\ndrm-engine-compute:\t0 ns\n";
    struct world w;
    amd_machine(&w);
    client_at(&w, 101, 5, "/dev/dri/renderD128", text);
    link_to(&w, "proc/101/fd/6", "/dev/kfd");
    world_start(&w);
    tick(&w);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1000 << 10);
    CHECK_RAW(&w, PROC_GPU_USAGE, 370000); /* alone: all that the GPU does */
    client_at(&w, 777, 3, "/dev/dri/renderD128",
              "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t10\ndrm-memory-vram:\t5 KiB\n");
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_VRAM, 1000 << 10);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    world_done(&w);
}

#define INTEL "sys/class/drm/renderD129/device/"

static void intel_machine(struct world *w)
{
    world_init(w);
    fake_root_write(&w->root, INTEL "vendor", "0x8086\n");
    fake_root_write(&w->root, INTEL "device", "0x56a0\n");
    fake_root_write(&w->root, INTEL "uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:00:02.0\n");
    fake_root_write(&w->root, INTEL "hwmon/hwmon1/energy1_input", "5000000\n");
    fake_root_write(&w->root, INTEL "drm/card1/gt_act_freq_mhz", "1300\n");
    fake_root_write(&w->root, INTEL "drm/card1-DP-1/status", "connected\n");
}

static void i915_client(const struct world *w, int pid, int id, uint64_t render_ns, unsigned kib)
{
    char text[256];
    snprintf(text, sizeof text,
             "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%d\n"
             "drm-engine-render:\t%llu ns\ndrm-engine-video:\t0 ns\n"
             "drm-resident-local0:\t%u KiB\n",
             id, (unsigned long long)render_ns, kib);
    client_at(w, pid, 4, "/dev/dri/renderD129", text);
}

/* No file tells how busy it is: that is the sum over everyone who has it open. */
static void an_i915_machine(void)
{
    struct world w;
    intel_machine(&w);
    i915_client(&w, 100, 1, 1000, 10);
    i915_client(&w, 999, 2, 5000, 30);
    world_start(&w);
    tick(&w);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_RAW(&w, SYS_GPU_VRAM, 40 << 10);
    CHECK_RAW(&w, PROC_GPU_VRAM, 10 << 10);
    i915_client(&w, 100, 1, 1000 + 300000000, 10);
    i915_client(&w, 999, 2, 5000 + 400000000, 30);
    i915_client(&w, 998, 3, 100000000, 2); /* born since */
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 300000);
    CHECK_RAW(&w, SYS_GPU_USAGE, 800000);
    CHECK_RAW(&w, SYS_GPU_VRAM, 42 << 10);
    CHECK_FIGURE(&w, 0, ENERGY, 5000);
    CHECK_FIGURE(&w, 0, CLOCK, 1300000000);
    CHECK_FIGURE(&w, 0, PROCESSES, 3);
    world_done(&w);
}

/* Who has no GPU open is not looked into at each pass. */
static void strangers_without_a_gpu_are_left_alone_for_a_while(void)
{
    struct world w;
    intel_machine(&w);
    i915_client(&w, 100, 1, 1000, 10);
    link_to(&w, "proc/999/fd/0", "/dev/null");
    world_start(&w);
    tick(&w);
    i915_client(&w, 999, 2, 5000, 30);
    i915_client(&w, 101, 3, 5000, 5); /* the job's own are looked at each time */
    tick(&w);
    CHECK_RAW(&w, SYS_GPU_VRAM, 15 << 10);
    CHECK_RAW(&w, PROC_GPU_VRAM, 15 << 10);
    w.now_ns += 10 * SECOND;
    tick(&w);
    CHECK_RAW(&w, SYS_GPU_VRAM, 45 << 10);
    CHECK_RAW(&w, PROC_GPU_VRAM, 15 << 10);
    world_done(&w);
}

static void xe_client(const struct world *w, int pid, uint64_t cycles, uint64_t total)
{
    char text[256];
    snprintf(text, sizeof text,
             "drm-driver:\txe\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%d\n"
             "drm-resident-vram0:\t3 MiB\ndrm-cycles-ccs:\t%llu\ndrm-total-cycles-ccs:\t%llu\n",
             pid, (unsigned long long)cycles, (unsigned long long)total);
    client_at(w, pid, 4, "/dev/dri/renderD129", text);
}

static void an_xe_machine(void)
{
    struct world w;
    intel_machine(&w);
    fake_root_write(&w.root, INTEL "tile0/gt0/freq0/act_freq", "2050\n");
    fake_root_write(&w.root, INTEL "hwmon/hwmon1/temp2_input", "48000\n");
    xe_client(&w, 101, 100, 1000);
    world_start(&w);
    tick(&w);
    xe_client(&w, 101, 175, 1100);
    tick(&w);
    CHECK_RAW(&w, PROC_GPU_USAGE, 750000);
    CHECK_RAW(&w, SYS_GPU_USAGE, 750000);
    CHECK_RAW(&w, PROC_GPU_VRAM, 3 << 20);
    CHECK_FIGURE(&w, 0, CLOCK, 2050000000);
    CHECK_FIGURE(&w, 0, TEMPERATURE, 48000);
    world_done(&w);
}

static void two_vendors_in_one_machine(void)
{
    struct world w;
    amd_machine(&w);
    fake_root_write(&w.root, INTEL "vendor", "0x8086\n");
    fake_root_write(&w.root, INTEL "uevent", "PCI_SLOT_NAME=0000:00:02.0\n");
    world_start(&w);
    tick(&w);
    tick(&w);
    CHECK_TEXT(device(&w, 0)->name, "0000:03:00.0");
    CHECK_TEXT(device(&w, 1)->name, "0000:00:02.0");
    CHECK_RAW(&w, SYS_GPU_USAGE, 370000);
    CHECK_RAW(&w, PROC_GPU_USAGE, 0);
    world_done(&w);
}

/* A driver that no backend speaks to: nothing is known, and that is not zero. */
static void an_nvidia_card_without_its_library(void)
{
    struct world w;
    setenv("PATH", "/nowhere", 1);
    world_init(&w);
    fake_root_write(&w.root, "proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: x\n");
    world_start(&w);
    tick(&w);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    CHECK_TEXT(trk__gpu_news(w.gpu), "NVIDIA GPUs can't be read: libnvidia-ml.so.1 is not here");
    world_done(&w);
}

static void a_device_that_is_not_there_is_named(void)
{
    struct trk_gpu_device devices[2] = {{.name = "0000:03:00.0"}, {.name = "0000:04:00.0"}};
    strcpy(devices[1].info.uuid, "GPU-12345678-abcd");
    char word[TRK_GPU_WORD_SIZE] = "";
    CHECK(!trk__gpu_find_unknown(NULL, devices, 2, word));
    CHECK(!trk__gpu_find_unknown("0, 1", devices, 2, word));
    CHECK(!trk__gpu_find_unknown("0000:03:00.0,gpu-1234", devices, 2, word));
    CHECK(trk__gpu_find_unknown("0,7,8", devices, 2, word));
    CHECK_TEXT(word, "7");
    CHECK(trk__gpu_find_unknown("GPU-9999", devices, 2, word));
    CHECK_TEXT(word, "GPU-9999");
}

/* Its device is known, what the job does there is not. */
static void an_answer_that_is_too_old_says_nothing_of_the_job(void)
{
    struct world w;
    struct trk_gpu_info info;
    amd_machine(&w);
    world_start(&w);
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0x5a); /* new memory is not 0 */
#endif
    w.now_ns += SECOND;
    trk__gpu_ask(w.gpu, &w.job.account.table);
    w.now_ns += 60 * SECOND;
    trk__gpu_fill(w.gpu,
                  &(struct trk_gpu_look){.table = &w.job.account.table,
                                         .wait_ns = 10 * SECOND,
                                         .age_limit_ns = 5 * SECOND},
                  &w.sample);
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0);
#endif
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK(trk__gpu_info(w.gpu, 0, &info) == 0);
    CHECK_TEXT(info.vendor, "AMD");
    CHECK(!info.is_exclusive);
    CHECK(trk__gpu_info_called(w.gpu, "0000:03:00.0", &info) == 0 && !info.is_exclusive);
    CHECK(trk__gpu_info_called(w.gpu, "0000:04:00.0", &info) == -ENOENT);
    world_done(&w);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(amdgpu_is_read),
        TEST(amdgpu_of_old_is_read),
        TEST(i915_is_read),
        TEST(xe_is_read),
        TEST(other_descriptors_are_not_taken),
        TEST(shares_come_from_two_looks),
        TEST(an_amd_machine),
        TEST(an_old_amd_machine),
        TEST(an_amd_machine_that_computes),
        TEST(a_gpu_that_sleeps_is_left_asleep),
        TEST(an_i915_machine),
        TEST(strangers_without_a_gpu_are_left_alone_for_a_while),
        TEST(an_xe_machine),
        TEST(two_vendors_in_one_machine),
        TEST(an_nvidia_card_without_its_library),
        TEST(a_device_that_is_not_there_is_named),
        TEST(an_answer_that_is_too_old_says_nothing_of_the_job),
    };
    return CHECK_MAIN(argc, argv, tests);
}
