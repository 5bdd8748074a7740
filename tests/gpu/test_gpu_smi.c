/* GPUs through nvidia-smi: its texts, and a program that plays it. The NVML that this is run with lacks what
 * nothing works without. */
#include "check.h"
#include "fake_root.h"
#include "gpu/gpu.h"
#include "gpu/gpu_reading.h"
#include "gpu/nvidia_smi_parse.h"
#include "platform/helper_pid.h"
#include "scanned_job.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static const int64_t SECOND = 1000000000;

static struct trk_cursor text_of(const char *text)
{
    return trk__cursor(text, strlen(text));
}

static void columns_are_found_by_name(void)
{
    struct trk_smi_places places;
    struct trk_cursor text;
    CHECK(trk__smi_header(text_of("name, utilization.gpu [%], memory.used [MiB], index"), &places));
    struct trk_cursor row = text_of("NVIDIA A100, 37 , 1024, 3");
    CHECK(trk__smi_field(row, &places, TRK_SMI_INDEX, &text) && trk__cursor_equals(&text, "3"));
    CHECK(trk__smi_field(row, &places, TRK_SMI_UTILIZATION, &text) &&
          trk__cursor_equals(&text, "37"));
    CHECK(trk__smi_field(row, &places, TRK_SMI_NAME, &text) &&
          trk__cursor_equals(&text, "NVIDIA A100"));
    CHECK(!trk__smi_field(row, &places, TRK_SMI_POWER, &text));
    CHECK(!trk__smi_field(text_of("NVIDIA A100, 37"), &places, TRK_SMI_INDEX, &text));
    CHECK(!trk__smi_header(text_of("Failed to initialize NVML: Driver Not Loaded"), &places));
}

static void numbers_and_words(void)
{
    uint64_t value = 7;
    CHECK(trk__smi_thousandths(text_of("61.25 W"), &value));
    CHECK_U64(value, 61250);
    CHECK(trk__smi_thousandths(text_of("0"), &value));
    CHECK_U64(value, 0);
    CHECK(!trk__smi_thousandths(text_of("[N/A]"), &value));
    CHECK(!trk__smi_thousandths(text_of("[Unknown Error]"), &value));
    CHECK(!trk__smi_thousandths(text_of(""), &value));
}

static void pmon_in_two_versions(void)
{
    struct trk_smi_places places;
    struct trk_pmon_row row;
    CHECK(trk__pmon_header(
        text_of(
            "# gpu        pid  type    sm   mem   enc   dec   jpg   ofa    fb   ccpm    command"),
        &places));
    CHECK(trk__pmon_row(
        text_of("    2      12345    C    45    12     -     -     -     -   812      0    python"),
        &places, &row));
    CHECK_U64(row.gpu, 2);
    CHECK_U64((uint64_t)row.pid, 12345);
    CHECK_U64(row.sm_percent, 45);
    CHECK(row.memory_known);
    CHECK_U64(row.memory_mib, 812);
    CHECK(trk__pmon_header(text_of("# gpu   pid  type    fb    sm   mem   command"), &places));
    CHECK(trk__pmon_row(text_of("  0   77   C   300   -   -   a b c"), &places, &row));
    CHECK_U64(row.memory_mib, 300);
    CHECK_U64(row.sm_percent, 0);
    CHECK(trk__pmon_row(text_of("  1   -   -   -   -   -   -"), &places, &row));
    CHECK_U64((uint64_t)row.pid, 0);
    CHECK(!trk__pmon_row(text_of("# Idx   #   C/G   MB  %   %   name"), &places, &row));
    CHECK(!trk__pmon_row(text_of(""), &places, &row));
    CHECK(!trk__pmon_header(text_of("# Idx   #   C/G   MB  %   %   name"), &places));
}

/* ---- the program ---- */

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

static void world_init(struct world *w)
{
    *w = (struct world){.now_ns = 100 * SECOND};
    fake_root_init(&w->root);
    fake_root_write(&w->root, "dev/nvidiactl", " ");
    fake_process_write(
        &w->root,
        &(struct fake_process){.pid = 100, .ppid = 1, .start = 1, .minflt = 1, .resident = 1});
    setenv("FAKE_SMI", w->root.path, 1);
    REQUIRE(trk__context_init(&w->context, w->root.path, NULL) == 0);
    w->context.clock =
        (struct trk_clock){.monotonic_ns = fake_now, .realtime_ns = fake_now, .state = w};
    w->context.ticks_per_second = 100;
    scanned_job_init(&w->job, &w->context, getpid());
    REQUIRE(scanned_job_start(&w->job, 100, false) == 0);
}

static void tick(struct world *w)
{
    w->now_ns +=
        SECOND / 1000; /* no faster than the programs' clock: figures must not become old */
    trk__gpu_ask(w->gpu, &w->job.account.table);
    trk__sample_clear(&w->sample);
    trk__gpu_fill(w->gpu,
                  &(struct trk_gpu_look){.table = &w->job.account.table,
                                         .wait_ns = 5 * SECOND,
                                         .age_limit_ns = 5 * SECOND},
                  &w->sample);
}

static bool is_raw_after_tick(struct world *w, enum trk_metric metric, uint64_t expected)
{
    tick(w);
    return trk__sample_has(&w->sample, metric) && w->sample.raw[metric] == expected;
}

/* The programs have their own pace, and a busy machine slows them down. */
static void tick_until(struct world *w, enum trk_metric metric, uint64_t expected)
{
    WAIT_UNTIL(is_raw_after_tick(w, metric, expected));
}

static void world_done(struct world *w)
{
    trk__gpu_close(w->gpu);
    trk__sample_done(&w->sample);
    scanned_job_done(&w->job);
    trk__context_done(&w->context);
    fake_root_done(&w->root);
}

#define CHECK_RAW(w, id, expected)                                                                 \
    do {                                                                                           \
        CHECK(trk__sample_has(&(w)->sample, TRK_M_##id));                                          \
        CHECK_U64((w)->sample.raw[TRK_M_##id], expected);                                          \
    } while (0)
#define CHECK_ABSENT(w, id) CHECK(!trk__sample_has(&(w)->sample, TRK_M_##id))

static const char device_head[] =
    "index, uuid, pci.bus_id, utilization.gpu [%], utilization.memory [%], memory.used [MiB], "
    "memory.total [MiB], temperature.gpu, power.draw [W], clocks.current.sm [MHz], "
    "clocks.current.memory [MHz], name\n";

static void machine(struct world *w, const char *process_rows)
{
    world_init(w);
    fake_root_write(&w->root, "devices.head", "%s", device_head);
    fake_root_write(&w->root, "devices.rows",
                    "0, GPU-aaaaaaaa-1, 00000000:3B:00.0, 42, 17, 2861, 15258, 61, 123.46, 1410, "
                    "1215, Tesla T4\n"
                    "1, GPU-bbbbbbbb-2, 00000000:AF:00.0, 0, 0, 3, 15258, [N/A], [N/A], 300, 405, "
                    "Tesla T4\n");
    fake_root_write(&w->root, "processes.head",
                    "# gpu   pid  type    sm   mem   enc   dec    fb   command\n"
                    "# Idx     #   C/G     %%     %%     %%     %%    MB   name\n");
    fake_root_write(&w->root, "processes.rows", "%s", process_rows);
    REQUIRE(trk__gpu_open(&w->context, NULL, &w->gpu) == 0);
}

/* The pids of the programs that were started, as the script noted them. */
static unsigned started(const struct world *w, int pid[8])
{
    char path[128], line[512];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/started", w->root.path);
    FILE *file = fopen(path, "re");
    while (file && count < 8 && fgets(line, sizeof line, file))
        count += sscanf(line, "%d", &pid[count]) == 1;
    if (file)
        fclose(file);
    return count;
}

static bool is_alive(int pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    const char *end = strrchr(text, ')');
    return read && end && end[2] != 'Z';
}

static void figures_arrive_and_the_programs_end_with_us(void)
{
    struct world w;
    machine(&w, "    0   100     C    20     5     -     -   953   python\n"
                "    0   999     C    15     5     -     -   700   other\n"
                "    1     -     -     -     -     -     -     -   -\n");
    tick_until(&w, TRK_M_PROC_GPU_USAGE, 200000);
    CHECK_RAW(&w, SYS_GPU_USAGE, 420000);
    CHECK_RAW(&w, SYS_GPU_VRAM, UINT64_C(2864) << 20);
    CHECK_RAW(&w, PROC_GPU_USAGE, 200000);
    CHECK_RAW(&w, PROC_GPU_VRAM, UINT64_C(953) << 20);
    CHECK_RAW(&w, PROC_GPU_UTILIZED, 1);
    const struct trk_device *device = w.sample.devices[TRK_SCOPE_GPU - TRK_SCOPE_DEVICE_FIRST].item;
    CHECK_TEXT(device[0].name, "0000:3b:00.0");
    CHECK_U64(device[0].raw[TRK_GPU_SLOT(POWER)], 123460);
    CHECK_U64(device[0].raw[TRK_GPU_SLOT(TEMPERATURE)], 61000);
    CHECK_U64(device[0].raw[TRK_GPU_SLOT(CLOCK)], 1410000000);
    CHECK(!(device[1].valid >> TRK_GPU_SLOT(POWER) & 1));
    struct trk_gpu_info info;
    CHECK(trk__gpu_info(w.gpu, 1, &info) == 0);
    CHECK_TEXT(info.uuid, "GPU-bbbbbbbb-2");
    CHECK_TEXT(info.source, "nvidia-smi");
    fake_root_write(&w.root, "processes.rows",
                    "    0   999     C    15     5     -     -   700   other\n"
                    "    1     -     -     -     -     -     -     -   -\n");
    tick_until(&w, TRK_M_PROC_GPU_VRAM, 0);
    CHECK_RAW(&w, PROC_GPU_VRAM, 0);
    int pid[8];
    REQUIRE_U64(started(&w, pid), 2); /* kept, not started at each tick */
    CHECK(is_alive(pid[0]) && is_alive(pid[1]));
    CHECK(trk__helper_is_ours(pid[0]) && trk__helper_is_ours(pid[1]));
    trk__gpu_close(w.gpu);
    w.gpu = NULL;
    WAIT_UNTIL(!is_alive(pid[0]) && !is_alive(pid[1]));
    world_done(&w);
}

static void what_does_not_answer_is_absent(void)
{
    struct world w;
    struct timespec before, after;
    world_init(&w);
    REQUIRE(trk__gpu_open(&w.context, NULL, &w.gpu) == 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    tick(&w);
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK(after.tv_sec - before.tv_sec < 3);
    CHECK_ABSENT(&w, SYS_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    CHECK(trk__gpu_news(w.gpu) != NULL);
    world_done(&w);
}

static bool has_rounds(const struct world *w, const char *name, off_t count)
{
    char path[128];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", w->root.path, name);
    return stat(path, &status) == 0 && status.st_size >= count;
}

static void a_gpu_that_pmon_leaves_out_is_not_idle(void)
{
    struct world w;
    machine(&w, "    0   100     C    20     5     -     -   953   python\n");
    tick_until(&w, TRK_M_SYS_GPU_USAGE, 420000);
    WAIT_UNTIL(has_rounds(&w, "processes.rounds", 3)); /* what pmon has said can be read */
    tick_until(&w, TRK_M_SYS_GPU_USAGE, 420000);
    CHECK_ABSENT(&w, PROC_GPU_USAGE);
    CHECK_ABSENT(&w, PROC_GPU_VRAM);
    world_done(&w);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(columns_are_found_by_name),      TEST(numbers_and_words),
        TEST(pmon_in_two_versions),           TEST(figures_arrive_and_the_programs_end_with_us),
        TEST(what_does_not_answer_is_absent), TEST(a_gpu_that_pmon_leaves_out_is_not_idle),
    };
    setenv("PATH", TRK_FAKE_SMI ":/usr/bin:/bin", 1);
    return CHECK_MAIN(argc, argv, tests);
}
