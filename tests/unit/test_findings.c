/* Each rule where it speaks, and just under its threshold where it is silent. */
#include "report/findings.h"

#include "check.h"

#include <math.h>

enum { ROWS = 100 };

/* A run of 100 s with a row each second and nothing to tell: cores half busy, memory steady. */
struct world {
    struct trk_finding_facts facts;
    double seconds[ROWS], cpu[ROWS], memory[ROWS], gpu[ROWS], io_pressure[ROWS],
        memory_pressure[ROWS], disk_free[ROWS], io[ROWS];
};

static void fill(double values[ROWS], double value, int count, double rest)
{
    for (int i = 0; i < ROWS; i++)
        values[i] = i < count ? value : rest;
}

static struct world *quiet_world(void)
{
    static struct world world;
    fill(world.seconds, 1, ROWS, 0);
    fill(world.cpu, 3, ROWS, 0);
    fill(world.memory, 100e6, ROWS, 0);
    fill(world.gpu, 0.5, ROWS, 0);
    fill(world.io_pressure, 0, ROWS, 0);
    fill(world.memory_pressure, 0, ROWS, 0);
    fill(world.disk_free, 500, ROWS, 0);
    fill(world.io, 4096, ROWS, 0);
    world.facts = (struct trk_finding_facts){
        .rows = ROWS,
        .seconds = world.seconds,
        .cpu_cores = world.cpu,
        .memory_bytes = world.memory,
        .gpu_usage = world.gpu,
        .io_pressure = world.io_pressure,
        .memory_pressure = world.memory_pressure,
        .disk_free_bytes = world.disk_free,
        .io_bytes = world.io,
        .wall_seconds = ROWS,
        .average_cores = NAN,
        .cores_available = 8,
        .cpu_quota_cores = NAN,
        .throttled_seconds = 0,
        .peak_memory_bytes = 100e6,
        .memory_limit_bytes = NAN,
        .oom_limit_bytes = NAN,
        .oom_process_bytes = NAN,
        .gpus = 1,
        .gpus_idle = 0,
        .disk_total_bytes = 1000,
    };
    return &world;
}

static struct trk_finding found[TRK_FINDINGS_MAX];

static const struct trk_finding *find(const struct world *world, const char *rule)
{
    size_t count = trk__findings(&world->facts, found);
    for (size_t i = 0; i < count; i++)
        if (strcmp(found[i].rule, rule) == 0)
            return &found[i];
    return NULL;
}

static void check_says(const struct world *world, const char *rule, const char *title,
                       const char *evidence)
{
    const struct trk_finding *finding = find(world, rule);
    REQUIRE(finding != NULL);
    if (finding) {
        CHECK_TEXT(finding->title, title);
        CHECK_TEXT(finding->evidence, evidence);
    }
}

static void test_nothing_to_tell(void)
{
    CHECK_U64(trk__findings(&quiet_world()->facts, found), 0);
}

static void test_one_core(void)
{
    struct world *world = quiet_world();
    fill(world->cpu, 1.25, 60, 3);
    check_says(
        world, "one_core", "One core busy, 7 idle for 60 % of the time",
        "The job kept 1.95 of 8 cores busy on average: more cores would not make it faster.");
    world->facts.average_cores = 2.1; /* the exact total beats the rows */
    check_says(
        world, "one_core", "One core busy, 7 idle for 60 % of the time",
        "The job kept 2.10 of 8 cores busy on average: more cores would not make it faster.");
    fill(world->cpu, 1.25, 59, 3);
    CHECK(!find(world, "one_core"));
    fill(world->cpu, 1.26, ROWS, 0);
    CHECK(!find(world, "one_core"));
    fill(world->cpu, 1, ROWS, 0);
    world->facts.cores_available = 1.9; /* a quota: no second core to be idle */
    CHECK(!find(world, "one_core"));
}

static void test_all_cores(void)
{
    struct world *world = quiet_world();
    fill(world->cpu, 7.2, 60, 3);
    check_says(world, "all_cores", "All 8 cores busy for 60 % of the time",
               "5.52 cores busy on average: more cores may make it faster.");
    fill(world->cpu, 7.2, 59, 3);
    CHECK(!find(world, "all_cores"));
    fill(world->cpu, 7.19, ROWS, 0);
    CHECK(!find(world, "all_cores"));
}

static void test_idle(void)
{
    struct world *world = quiet_world();
    fill(world->gpu, 0, ROWS, 0);
    world->facts.gpus = 0;
    fill(world->cpu, 0.1, 50, 3);
    check_says(world, "idle", "Hardly any CPU used for 50 % of the time",
               "Under 0.1 of 8 cores: the job waited, slept or was held up.");
    world->facts.cores_available = 1;
    check_says(world, "idle", "Hardly any CPU used for 50 % of the time",
               "Under 0.1 of 1 core: the job waited, slept or was held up.");
    fill(world->cpu, 0.1, 49, 3);
    CHECK(!find(world, "idle"));
    fill(world->cpu, 0.1, 50, 3);
    fill(world->gpu, 0.06, 1, 0); /* it waited for its GPU */
    CHECK(!find(world, "idle"));
}

static void test_throttled(void)
{
    struct world *world = quiet_world();
    world->facts.throttled_seconds = 5;
    world->facts.cpu_quota_cores = 1.5;
    check_says(world, "throttled", "Throttled by the CPU quota 5 % of the time",
               "Held back for 5 s by a quota of 1.5 cores.");
    world->facts.cpu_quota_cores = 1;
    check_says(world, "throttled", "Throttled by the CPU quota 5 % of the time",
               "Held back for 5 s by a quota of 1 core.");
    world->facts.throttled_seconds = 4.99;
    CHECK(!find(world, "throttled"));
}

static void test_near_limit(void)
{
    struct world *world = quiet_world();
    world->facts.memory_limit_bytes = 1000 << 20;
    world->facts.peak_memory_bytes = 900 << 20;
    check_says(world, "near_limit", "Memory came within 10 % of its limit",
               "900 MiB of 1000 MiB allowed; a slightly larger input may be killed.");
    world->facts.peak_memory_bytes = 899 << 20;
    CHECK(!find(world, "near_limit"));
}

static void test_out_of_memory(void)
{
    struct world *world = quiet_world();
    CHECK(!find(world, "out_of_memory"));
    world->facts.oom_kills = 1;
    check_says(world, "out_of_memory", "The kernel killed a process of the job for want of memory",
               "the peak below is where it was stopped, not what it needs.");
    world->facts.oom_limit_bytes = 0x1p32;
    world->facts.oom_process_bytes = 3.5 * 0x1p30;
    strcpy(world->facts.oom_command, "sort");
    check_says(
        world, "out_of_memory", "The kernel killed sort for want of memory",
        "It held 3.5 GiB under a limit of 4 GiB; the peak below is where it was stopped, not "
        "what it needs.");
    CHECK_TEXT(found[0].rule, "out_of_memory"); /* before all others */
}

static void grow(struct world *world, double from, double to)
{
    for (int i = 0; i < ROWS; i++)
        world->memory[i] = from + (to - from) * (i + 1) / ROWS;
}

static void test_memory_grew(void)
{
    struct world *world = quiet_world();
    grow(world, 79 << 20, 100 << 20); /* a quarter's step is 5.25 % of the peak */
    check_says(
        world, "memory_grew", "Memory grew until the end",
        "From 82 MiB in the first quarter to 100 MiB at the end, 756 MiB an hour; a longer run "
        "would need more.");
    grow(world, 81 << 20, 100 << 20); /* 4.75 % */
    CHECK(!find(world, "memory_grew"));
    grow(world, 10 << 20, 100 << 20);
    world->memory[ROWS - 1] = 94 << 20; /* and fell at the end */
    CHECK(!find(world, "memory_grew"));
    world->memory[ROWS - 1] = NAN; /* a job that has ended holds none */
    CHECK(find(world, "memory_grew") != NULL);
}

static void test_short_peak(void)
{
    struct world *world = quiet_world();
    fill(world->memory, 100 << 20, 5, 60 << 20);
    check_says(world, "short_peak", "The memory peak was short: 5 s of 100 s",
               "Over 90 MiB then, under 60 MiB for 95 % of the time.");
    fill(world->memory, 100 << 20, 6, 60 << 20);
    CHECK(!find(world, "short_peak"));
    fill(world->memory, 100 << 20, 5, 61 << 20);
    CHECK(!find(world, "short_peak"));
}

static void test_waited_for_disk(void)
{
    struct world *world = quiet_world();
    fill(world->io_pressure, 0.2001, ROWS, 0);
    check_says(
        world, "waited_for_disk", "Waited for disk 20 % of the time",
        "The machine's I/O pressure, while the job kept 3.00 cores busy; faster storage would "
        "help.");
    fill(world->io_pressure, 0.2, ROWS - 1, 0.1);
    CHECK(!find(world, "waited_for_disk"));
    fill(world->io_pressure, 0.9, ROWS, 0);
    fill(world->io, 0, ROWS, 0); /* somebody else's waiting */
    CHECK(!find(world, "waited_for_disk"));
}

static void test_waited_for_memory(void)
{
    struct world *world = quiet_world();
    fill(world->memory_pressure, 0.1001, ROWS, 0);
    CHECK(find(world, "waited_for_memory") != NULL);
    fill(world->memory_pressure, 0.1, ROWS - 1, 0.05);
    CHECK(!find(world, "waited_for_memory"));
}

static void test_gpu_unused(void)
{
    struct world *world = quiet_world();
    fill(world->gpu, 0.06, 1, 0);
    check_says(world, "gpu_unused", "GPU reserved but unused",
               "The job kept a GPU more than 5 % busy for 1 % of the time.");
    fill(world->gpu, 0.06, 2, 0);
    CHECK(!find(world, "gpu_unused"));
    fill(world->gpu, 0, ROWS, 0);
    world->facts.gpus = 0;
    CHECK(!find(world, "gpu_unused"));
}

static void test_some_gpus_unused(void)
{
    struct world *world = quiet_world();
    world->facts.gpus = 4;
    world->facts.gpus_idle = 1;
    check_says(world, "some_gpus_unused", "1 of 4 GPUs unused",
               "Each was over 5 % busy for less than 1 % of the time.");
    world->facts.gpus_idle = 0;
    CHECK(!find(world, "some_gpus_unused"));
    world->facts.gpus_idle = 4; /* gpu_unused says it */
    CHECK(!find(world, "some_gpus_unused"));
}

static void test_disk_full(void)
{
    struct world *world = quiet_world();
    world->disk_free[ROWS - 1] = 49;
    check_says(world, "disk_full", "The disks are nearly full",
               "49 B of 1000 B was free at the end.");
    world->disk_free[ROWS - 1] = 50;
    CHECK(!find(world, "disk_full"));
}

static void test_too_little_to_say(void)
{
    struct world *world = quiet_world();
    fill(world->cpu, 1, ROWS, 0);
    world->facts.rows = 9;
    CHECK(!find(world, "one_core"));
    world->facts.rows = 10;
    CHECK(find(world, "one_core") != NULL);
    fill(world->seconds, 0.49, ROWS, 0); /* 4.9 s */
    CHECK(!find(world, "one_core"));
}

static void test_nothing_measured(void)
{
    struct trk_finding_facts facts = {
        .wall_seconds = NAN,
        .cores_available = NAN,
        .throttled_seconds = NAN,
        .peak_memory_bytes = NAN,
        .memory_limit_bytes = NAN,
        .oom_kills = NAN,
        .gpus = NAN,
        .gpus_idle = NAN,
        .disk_total_bytes = NAN,
    };
    CHECK_U64(trk__findings(&facts, found), 0);
}

static void test_few_and_ranked(void)
{
    struct world *world = quiet_world();
    world->facts.oom_kills = 1;
    world->facts.throttled_seconds = 50;
    fill(world->memory_pressure, 0.5, ROWS, 0);
    fill(world->io_pressure, 0.5, ROWS, 0);
    fill(world->cpu, 1, ROWS, 0);
    fill(world->gpu, 0, ROWS, 0);
    world->disk_free[ROWS - 1] = 1;
    grow(world, 10 << 20, 100 << 20);
    CHECK_U64(trk__findings(&world->facts, found), TRK_FINDINGS_MAX);
    for (int i = 1; i < TRK_FINDINGS_MAX; i++)
        CHECK(found[i - 1].weight <= found[i].weight);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_nothing_to_tell),   TEST(test_one_core),
        TEST(test_all_cores),         TEST(test_idle),
        TEST(test_throttled),         TEST(test_near_limit),
        TEST(test_out_of_memory),     TEST(test_memory_grew),
        TEST(test_short_peak),        TEST(test_waited_for_disk),
        TEST(test_waited_for_memory), TEST(test_gpu_unused),
        TEST(test_some_gpus_unused),  TEST(test_disk_full),
        TEST(test_too_little_to_say), TEST(test_nothing_measured),
        TEST(test_few_and_ranked),
    };
    return CHECK_MAIN(argc, argv, tests);
}
