/* A whole session on a made-up machine with a clock that the test turns. */
#include "check.h"
#include "fake_root.h"
#include "platform/linux/gather.h"
#include "session/session.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

static const int64_t SECOND = 1000000000;

struct world {
    struct fake_root root;
    int64_t now_ns;
    struct trk_session *session;
    char csv[128];
};

static int64_t fake_now(void *state)
{
    return ((struct world *)state)->now_ns;
}

static void machine_at(struct world *w, unsigned long user, unsigned long system,
                       unsigned long received)
{
    fake_root_write(&w->root, "proc/stat",
                    "cpu  %lu 0 %lu 1000 5 0 0 0 0 0\ncpu0 %lu 0 %lu 1000 5 0 0 0 0 0\n"
                    "ctxt 100\nprocesses 4000\nprocs_running 1\nprocs_blocked 0\n",
                    user, system, user, system);
    fake_root_write(&w->root, "proc/net/dev",
                    "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame "
                    "compressed multicast|bytes packets errs drop fifo colls carrier compressed\n"
                    "    lo: 9999 9 0 0 0 0 0 0 9999 9 0 0 0 0 0 0\n"
                    "  eth0: %lu 5 0 0 0 0 0 0 700 7 0 0 0 0 0 0\n",
                    received);
}

static void world_init(struct world *w, struct trk_options *options)
{
    *w = (struct world){.now_ns = 100 * SECOND};
    fake_root_init(&w->root);
    machine_at(w, 1000, 500, 1000);
    fake_process_write(
        &w->root,
        &(struct fake_process){
            .pid = 100, .ppid = 1, .start = 1, .utime = 50, .minflt = 10, .resident = 1000});
    snprintf(w->csv, sizeof w->csv, "%s/out.csv", w->root.path);
    options->root_path = w->root.path;
    options->output_path = w->csv;
    struct trk_error error;
    REQUIRE(trk_session_new(options, &w->session, &error) == 0);
    w->session->context.clock =
        (struct trk_clock){.monotonic_ns = fake_now, .realtime_ns = fake_now, .state = w};
    w->session->context.ticks_per_second = 100;
    w->session->context.page_bytes = 4096;
}

static void world_done(struct world *w)
{
    trk_session_free(w->session);
    fake_root_done(&w->root);
}

static void start(struct world *w, pid_t pid)
{
    struct trk_error error;
    REQUIRE(trk_session_start(w->session, pid, &error) == 0);
    w->session->gather.account.options.cores = 2;
}

static void tick(struct world *w, int64_t step_ns)
{
    struct trk_error error;
    w->now_ns += step_ns;
    CHECK(trk__session_tick(w->session, &error) == 0);
}

static double value(const struct world *w, const char *name)
{
    return w->session->row.value[trk__metric_find(name)];
}

static void a_tick_covers_its_interval(void)
{
    struct trk_options options;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    start(&w, 100);
    machine_at(&w, 1030, 510, 1500);
    fake_process_write(&w.root, &(struct fake_process){.pid = 100,
                                                       .ppid = 1,
                                                       .start = 1,
                                                       .utime = 70,
                                                       .stime = 5,
                                                       .minflt = 11,
                                                       .resident = 2000,
                                                       .read_bytes = 8192});
    tick(&w, SECOND);
    CHECK_NEAR(value(&w, "timestamp"), 101, 1e-9);
    CHECK_NEAR(value(&w, "process_cpu_usage_cores"), 0.25, 1e-9); /* from 0.50 s to 0.75 s */
    CHECK_NEAR(value(&w, "process_read_bytes"), 8192, 0);
    CHECK_NEAR(value(&w, "process_memory_bytes"), 2000 * 4096, 0);
    CHECK_NEAR(value(&w, "process_children"), 0, 0);
    CHECK_NEAR(value(&w, "process_pid"), 100, 0);
    CHECK_NEAR(value(&w, "system_cpu_usage_cores"), 0.4, 1e-9);
    CHECK_NEAR(value(&w, "system_net_recv_bytes"), 500, 0);
    CHECK_NEAR(value(&w, "system_processes_count"), 1, 0);
    CHECK(isnan(value(&w, "system_memory_free_bytes"))); /* no meminfo: absent */
    world_done(&w);
}

/* A kernel refuses kept descriptors from then on; in a folder they read an empty file. */
static void process_vanishes(const struct world *w, int pid)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/stat", pid);
    fake_root_write(&w->root, name, "\n");
    snprintf(name, sizeof name, "proc/%d", pid);
    fake_root_remove(&w->root, name);
}

static void a_reaped_child_shows_once_and_within_the_cores(void)
{
    struct trk_options options;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    start(&w, 100);
    fake_process_write(
        &w.root,
        &(struct fake_process){
            .pid = 101, .ppid = 100, .start = 5, .utime = 80, .minflt = 30, .resident = 10});
    machine_at(&w, 1030, 510, 1500);
    fake_root_write(&w.root, "proc/stat", "cpu  1 0 1 1 1 0 0 0 0 0\nprocesses 4001\n");
    tick(&w, SECOND);
    CHECK_NEAR(value(&w, "process_cpu_usage_cores"), 0.8, 1e-9);
    CHECK_NEAR(value(&w, "process_children"), 1, 0);
    /* It burns 0.05 s more and is reaped: its 0.85 s stand in its parent's figures now. */
    process_vanishes(&w, 101);
    fake_process_write(&w.root, &(struct fake_process){.pid = 100,
                                                       .ppid = 1,
                                                       .start = 1,
                                                       .utime = 50,
                                                       .cutime = 85,
                                                       .minflt = 10,
                                                       .cminflt = 33,
                                                       .resident = 1000});
    tick(&w, SECOND);
    CHECK_NEAR(value(&w, "process_cpu_usage_cores"), 0.05, 1e-9);
    CHECK_NEAR(value(&w, "process_children"), 0, 0);
    world_done(&w);
}

static void statistics_are_weighted_by_time(void)
{
    struct trk_options options;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    start(&w, 100);
    fake_process_write(
        &w.root,
        &(struct fake_process){
            .pid = 100, .ppid = 1, .start = 1, .utime = 150, .minflt = 10, .resident = 1000});
    tick(&w, SECOND);     /* 1 core for 1 s */
    tick(&w, 3 * SECOND); /* nothing for 3 s */
    struct trk_metric_stats stats;
    CHECK(trk_session_stats(w.session, "process_cpu_usage_cores", &stats) == 0);
    CHECK_NEAR(stats.mean, 0.25, 1e-9);
    CHECK_NEAR(stats.max, 1, 1e-9);
    CHECK_U64(stats.count, 2);
    CHECK(trk_session_stats(w.session, "no_such_metric", &stats) == -ENOENT);
    double trend[8];
    CHECK(trk_session_trend(w.session, "process_cpu_usage_cores", trend, 8) == 2);
    CHECK_NEAR(trend[0], 1, 1e-6);
    CHECK(trk_session_trend(w.session, "system_load1_tasks", trend, 8) == -ENOENT);
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(w.session, &summary);
    CHECK_NEAR(summary.cpu_seconds.value, 1, 1e-9);
    CHECK_TEXT(summary.cpu_seconds.source, "sampled");
    CHECK_U64(summary.samples, 2);
    world_done(&w);
}

static void a_short_closing_row_makes_no_peak(void)
{
    struct trk_options options;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    start(&w, 100);
    fake_process_write(
        &w.root,
        &(struct fake_process){
            .pid = 100, .ppid = 1, .start = 1, .utime = 90, .minflt = 10, .resident = 1000});
    tick(&w, SECOND); /* 0.4 cores */
    fake_process_write(
        &w.root,
        &(struct fake_process){
            .pid = 100, .ppid = 1, .start = 1, .utime = 91, .minflt = 10, .resident = 1000});
    tick(&w, SECOND / 100); /* one tick of the kernel in 10 ms: a whole core */
    CHECK_NEAR(value(&w, "process_cpu_usage_cores"), 1, 1e-9);
    struct trk_metric_stats stats;
    trk_session_stats(w.session, "process_cpu_usage_cores", &stats);
    CHECK_NEAR(stats.max, 0.4, 1e-9);
    CHECK_NEAR(stats.mean, 0.41 / 1.01, 1e-9);
    world_done(&w);
}

static void options_out_of_range_are_refused(void)
{
    struct trk_options options;
    struct trk_error error;
    trk_session *session = NULL;
    static const double bad[] = {0, -1, 0.0009, 3600.1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trk_options_init(&options);
        options.interval_seconds = bad[i];
        CHECK(trk_session_new(&options, &session, &error) == -EINVAL);
        CHECK(strstr(error.message, "interval") != NULL);
        CHECK(session == NULL);
    }
    trk_options_init(&options);
    options.root_path = "/nonexistent";
    CHECK(trk_session_new(&options, &session, &error) == -ENOENT);
    options.size = 1;
    CHECK(trk_session_new(&options, &session, NULL) == -EINVAL);
}

static void a_process_that_does_not_exist_is_reported(void)
{
    struct trk_options options;
    struct trk_error error;
    trk_session *session = NULL;
    trk_options_init(&options);
    REQUIRE(trk_session_new(&options, &session, &error) == 0);
    CHECK(trk_session_start(session, 0x3fffff, &error) == -ESRCH);
    CHECK_TEXT(error.message, "no process with pid 4194303");
    trk_session_free(session);
}

static bool is_available(const char *source)
{
    struct trk_source_info info = {.size = sizeof info};
    for (size_t i = 0; trk_source_at(i, &info) == 0; i++)
        if (strcmp(info.name, source) == 0)
            return info.available;
    return false;
}

/* Starts a job of three processes, and comes back when it is over. */
static pid_t run_to_the_end(bool ignores_children)
{
    siginfo_t end;
    pid_t pid = check_fork();
    if (pid == 0) {
        signal(SIGCHLD, ignores_children ? SIG_IGN : SIG_DFL);
        for (int i = 0; i < 2; i++)
            if (fork() == 0)
                _exit(0);
        while (wait(NULL) > 0)
            ;
        _exit(0);
    }
    CHECK(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) == 0);
    return pid;
}

static void track_when_it_is_over(bool ignores_children, struct trk_summary *ret_summary)
{
    struct trk_options options;
    struct trk_error error;
    struct trk_event event = {0};
    trk_session *session = NULL;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    trk_options_init(&options);
    options.reap_children = true;
    options.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    REQUIRE(trk_session_new(&options, &session, &error) == 0);
    REQUIRE(trk_session_start(session, run_to_the_end(ignores_children), &error) == 0);
    for (int i = 0; i < 100 && event.kind != TRK_EVENT_END; i++)
        CHECK(trk_session_next(session, &event, &error) == 0);
    trk_session_summary(session, ret_summary);
    trk_session_free(session);
    close(options.signal_fd);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

/* On a busy machine a job can have exited before the tracker gets the CPU back. */
static void processes_of_a_job_that_exited_at_once_are_counted(void)
{
    for (int ignores = 0; ignores < 2; ignores++) {
        struct trk_summary summary = {.size = sizeof summary};
        track_when_it_is_over(ignores, &summary);
        CHECK(summary.processes.valid);
        if (!is_available("events"))
            continue;
        CHECK_NEAR(summary.processes.value, 3, 0);
        CHECK_TEXT(summary.processes.source, "events");
        CHECK(summary.cpu_is_lower_bound ==
              (ignores == 1)); /* nothing shows what was not waited for */
    }
}

/* What malloc has handed out, to the byte; 0 where the libc cannot say. */
static size_t allocated_bytes(void)
{
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static long resident_kib(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = -1;
    if (file)
        fclose(file);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ /* they have memory of their own */
enum { TICKS = 5000, IS_SANITIZED = true };
#else
enum { TICKS = 100000, IS_SANITIZED = false };
#endif

/* Rows go to /dev/null here: it is the tracker's memory that must not grow. A million ticks show it in the resident
 * size; malloc's own count shows as much in a tenth of them. */
static void memory_is_flat_over_many_ticks(void)
{
    struct trk_options options;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    trk__writer_close(w.session->writer, NULL);
    REQUIRE(trk__writer_open("/dev/null", TRK_FORMAT_CSV, TRK_SCHEMA_V2, TRK_ROWS_BOTH, false,
                             &w.session->writer, NULL) == 0);
    start(&w, 100);
    for (int i = 0; i < TICKS / 10; i++)
        tick(&w, SECOND);
    resident_kib(); /* the first call brings in pages of the C library */
    long before_kib = resident_kib();
    size_t before_bytes = allocated_bytes();
    for (int i = TICKS / 10; i < TICKS; i++)
        tick(&w, SECOND);
    if (!IS_SANITIZED) {
        CHECK(before_kib > 0 && resident_kib() - before_kib <= 64);
        CHECK(allocated_bytes() <= before_bytes + 4096);
    }
    CHECK_U64(w.session->stats.rows, TICKS);
    world_done(&w);
}

static void faulting_process_at(const struct world *w, int pid, char state, unsigned long resident,
                                unsigned long mark_mib, unsigned long faults)
{
    char status[64];
    bool is_alive = state != 'Z';
    fake_process_write(&w->root, &(struct fake_process){.pid = pid,
                                                        .ppid = 100,
                                                        .start = (unsigned long)pid,
                                                        .state = state,
                                                        .utime = 10,
                                                        .minflt = faults,
                                                        .resident = is_alive ? resident : 0});
    snprintf(status, sizeof status, "proc/%d/status", pid);
    if (mark_mib)
        fake_root_write(&w->root, status, "Name:\tjob\nVmHWM:\t%lu kB\n", mark_mib * 1024);
    else
        fake_root_write(&w->root, status, "Name:\tjob\nState:\tZ (zombie)\n");
}

static void process_at(const struct world *w, int pid, char state, unsigned long resident,
                       unsigned long mark_mib)
{
    faulting_process_at(w, pid, state, resident, mark_mib, 40000);
}

/* Two that held 150 MiB each at the highest, and what is left of it at the look. */
static void world_of_two(struct world *w, enum trk_memory_mode memory, unsigned long first_mib,
                         unsigned long second_mib)
{
    enum { PAGES_A_MIB = 256 };
    struct trk_options options;
    trk_options_init(&options);
    options.memory = memory;
    world_init(w, &options);
    start(w, 100);
    w->session->gather.account.source[TRK_BY_HWM].is_open = true;
    process_at(w, 101, 'S', first_mib * PAGES_A_MIB, 150);
    process_at(w, 102, 'S', second_mib * PAGES_A_MIB, 150);
    fake_root_write(&w->root, "proc/stat", "cpu  1 0 1 1 1 0 0 0 0 0\nprocesses 4002\n");
}

/* Two have ended with marks that were read; the third has given its memory back at the look and ended right after it,
 * with a mark that nobody could read: it may have held as much as the largest while the two held theirs. */
static void a_peak_rss_that_is_unknown_counts_as_the_largest(void)
{
    enum { MIB = 1 << 20 };
    struct world w;
    uint64_t high;
    world_of_two(&w, TRK_MEMORY_RSS, 150, 150);
    tick(&w, SECOND);
    process_at(&w, 101, 'Z', 0, 0);
    process_at(&w, 102, 'Z', 0, 0);
    process_at(&w, 103, 'S', 100, 0);
    fake_root_write(&w.root, "proc/stat", "cpu  1 0 1 1 1 0 0 0 0 0\nprocesses 4003\n");
    tick(&w, SECOND);
    CHECK(trk__peak_high(&w.session->gather.account.peak, 150 * MIB, &high));
    CHECK(high >= 450 * MIB);
    world_done(&w);
}

/* A job of one process that has ended, and was last looked at so long after its start. */
static struct trk_summary summary_of_one(int64_t looked_ns)
{
    struct trk_options options;
    struct trk_summary summary = {.size = sizeof summary};
    struct world w;
    trk_options_init(&options);
    options.memory = TRK_MEMORY_RSS;
    world_init(&w, &options);
    start(&w, 100);
    tick(&w, looked_ns);
    w.session->gather.account.root.is_reaped = true;
    w.session->gather.account.totals.largest_rss_bytes = 64 << 20;
    trk_session_summary(w.session, &summary);
    world_done(&w);
    return summary;
}

static void a_program_that_was_seen_loading_has_no_peak(void)
{
    struct trk_summary summary = summary_of_one(SECOND / 500);
    CHECK(!summary.peak_memory_bytes.valid);
    CHECK_NEAR(summary.peak_memory_high_bytes, 64 << 20, 0);
    CHECK(summary_of_one(SECOND).peak_memory_bytes.valid);
}

/* The kernel shows a process that was just waited for without parent or figures. It is its parent's by then. */
static void one_that_is_being_released_is_not_lost(void)
{
    struct trk_options options;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    start(&w, 100);
    process_at(&w, 101, 'S', 256, 1);
    tick(&w, SECOND);
    CHECK_U64(trk__process_live_count(&w.session->gather.account.table), 2);
    fake_process_write(&w.root, &(struct fake_process){.pid = 101, .start = 101, .state = 'Z'});
    fake_process_write(&w.root, &(struct fake_process){.pid = 100,
                                                       .ppid = 1,
                                                       .start = 1,
                                                       .utime = 60,
                                                       .cutime = 10,
                                                       .minflt = 10,
                                                       .cminflt = 40001,
                                                       .resident = 1000});
    tick(&w, SECOND);
    fake_root_remove(&w.root, "proc/101");
    tick(&w, SECOND);
    CHECK_U64(w.session->gather.account.totals.lost_children, 0);
    CHECK_U64(trk__process_live_count(&w.session->gather.account.table), 1);
    world_done(&w);
}

/* Two are gone; their parent has taken over so many faults more than the last look at them had seen. */
static uint64_t high_after_waiting(unsigned long faults_more)
{
    enum { MIB = 1 << 20 };
    struct world w;
    uint64_t high = 0;
    world_of_two(&w, TRK_MEMORY_RSS, 150, 10);
    process_at(&w, 102, 'S', 10 * 256, 10);
    tick(&w, SECOND);
    w.session->gather.account.options.is_child = true; /* so that nobody else can take them over */
    process_vanishes(&w, 101);
    process_vanishes(&w, 102);
    fake_process_write(&w.root, &(struct fake_process){.pid = 100,
                                                       .ppid = 1,
                                                       .start = 1,
                                                       .utime = 60,
                                                       .minflt = 10,
                                                       .cminflt = 80000 + faults_more,
                                                       .resident = 1000});
    tick(&w, SECOND);
    CHECK(trk__peak_high(&w.session->gather.account.peak, 150 * MIB, &high));
    w.session->gather.account.options.is_child = false;
    world_done(&w);
    return high;
}

static void one_that_was_waited_for_has_grown_by_what_it_faulted(void)
{
    enum { MIB = 1 << 20 };
    uint64_t high = high_after_waiting(20);
    CHECK(high >= 160 * MIB && high < 170 * MIB);
    CHECK(high_after_waiting(40000) >= 300 * MIB); /* the small one may have become as large */
}

/* Two were seen small. They have ended with 30 faults more, each of which may have brought 2 MiB. */
static void a_few_huge_faults_may_have_brought_much(void)
{
    enum { MIB = 1 << 20 };
    static const char count[] =
        "sys/kernel/mm/transparent_hugepage/hugepages-2048kB/stats/anon_fault_alloc";
    struct world w;
    uint64_t high;
    world_of_two(&w, TRK_MEMORY_RSS, 1, 1);
    trk__huge_faults_close(&w.session->gather.state->huge); /* the first look found none */
    fake_root_write(&w.root, count, "1000\n");
    process_at(&w, 101, 'S', 256, 1);
    process_at(&w, 102, 'S', 256, 1);
    tick(&w, SECOND);
    fake_root_write(&w.root, count, "1060\n");
    faulting_process_at(&w, 101, 'Z', 0, 0, 40030);
    faulting_process_at(&w, 102, 'Z', 0, 0, 40030);
    tick(&w, SECOND);
    CHECK(trk__peak_high(&w.session->gather.account.peak, 61 * MIB, &high));
    CHECK(high >= 122 * MIB);
    world_done(&w);
}

/* A process that was there before has faulted 50 times since; of 1000 huge faults of the machine `more` came later. */
static uint64_t high_of_attached(unsigned more)
{
    static const char count[] =
        "sys/kernel/mm/transparent_hugepage/hugepages-2048kB/stats/anon_fault_alloc";
    struct trk_options options;
    struct world w;
    uint64_t high = 0;
    trk_options_init(&options);
    options.memory = TRK_MEMORY_RSS;
    world_init(&w, &options);
    fake_root_write(&w.root, count, "1000\n");
    start(&w, 100);
    tick(&w, SECOND / 500); /* a first moment */
    fake_root_write(&w.root, count, "%u\n", 1000 + more);
    fake_process_write(
        &w.root,
        &(struct fake_process){
            .pid = 100, .ppid = 1, .start = 1, .utime = 60, .minflt = 60, .resident = 1000});
    tick(&w, SECOND);
    CHECK(trk__peak_high(&w.session->gather.account.peak, 0, &high));
    world_done(&w);
    return high;
}

static void huge_faults_before_the_first_sample_do_not_count(void)
{
    enum { MIB = 1 << 20 };
    CHECK(high_of_attached(0) < 10 * MIB);
    uint64_t high = high_of_attached(10);
    CHECK(high >= 20 * MIB && high < 30 * MIB);
}

/* At the look 90 MiB and 60 are left; when their memory is read a moment later one has given 40 more back. What was read must not stand for what marks are held against. */
static void a_read_after_memory_was_given_back_lowers_no_bound(void)
{
    enum { MIB = 1 << 20 };
    struct world w;
    uint64_t high;
    world_of_two(&w, TRK_MEMORY_PSS, 90, 60);
    for (int pid = 101; pid <= 102; pid++) {
        char name[64];
        int now_mib = pid == 101 ? 50 : 60;
        snprintf(name, sizeof name, "proc/%d/smaps_rollup", pid);
        fake_root_write(&w.root, name,
                        "00400000-7fff 0 00:00 0 [rollup]\nRss: %d kB\nPss: %d kB\n"
                        "Pss_Anon: %d kB\nPrivate_Dirty: %d kB\nAnonymous: %d kB\n",
                        now_mib * 1024, now_mib * 1024, now_mib * 1024, now_mib * 1024,
                        now_mib * 1024);
    }
    tick(&w, SECOND);
    CHECK(w.session->gather.memory.reads > 0);
    CHECK(trk__peak_high(&w.session->gather.account.peak, 150 * MIB, &high));
    CHECK(high >= 300 * MIB);
    world_done(&w);
}

/* Born after a look had listed the machine, and ended before the next one. */
static void one_that_was_forked_too_late_for_a_sample_counts_in_the_next(void)
{
    struct trk_options options;
    struct world w;
    struct fake_process root = {.pid = 100, .ppid = 1, .start = 1, .minflt = 10, .resident = 1000};
    trk_options_init(&options);
    world_init(&w, &options);
    start(&w, 100);
    w.session->gather.account.options.is_child = true;
    tick(&w, SECOND);
    fake_root_write(&w.root, "proc/stat", "cpu  1 0 1 1 1 0 0 0 0 0\nprocesses 4001\n");
    tick(&w, SECOND);
    CHECK_U64(w.session->gather.account.peak.most_unseen, 0); /* it lives, and has nothing yet */
    root.cminflt = 300;
    fake_process_write(&w.root, &root);
    tick(&w, SECOND);
    CHECK_U64(w.session->gather.account.peak.most_unseen, 1);
    world_done(&w);
}

static void oom_kills_at(const struct world *w, unsigned count)
{
    fake_root_write(&w->root, "proc/self/cgroup", "0::/job\n");
    fake_root_write(&w->root, "proc/self/mountinfo",
                    "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
    fake_root_write(&w->root, "sys/fs/cgroup/job/memory.max", "104857600\n");
    fake_root_write(&w->root, "sys/fs/cgroup/job/memory.events", "oom %u\noom_kill %u\n", count,
                    count);
}

static void the_kernel_log_names_the_process_that_was_killed(void)
{
    struct trk_options options;
    struct trk_summary summary = {.size = sizeof summary};
    struct trk_error error;
    struct world w;
    trk_options_init(&options);
    world_init(&w, &options);
    oom_kills_at(&w, 3);
    start(&w, 100);
    tick(&w, SECOND);
    oom_kills_at(&w, 4);
    fake_root_remove(&w.root, "proc/100");
    /* Before the job, one of somebody else, and the job's: only the last counts. */
    fake_root_write(&w.root, "dev/kmsg",
                    "3,1,50000000,-;Out of memory: Killed process 100 (early) total-vm:9kB, "
                    "anon-rss:4kB\n"
                    "4,2,101100000,-;memory: usage 50000kB, limit 51200kB, failcnt 1\n"
                    "6,3,101200000,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/other,"
                    "task_memcg=/job,task=a,pid=100,uid=0\n"
                    "3,4,101300000,-;Memory cgroup out of memory: Killed process 100 (hungry) "
                    "total-vm:90000kB, anon-rss:40000kB, file-rss:96kB, shmem-rss:0kB\n"
                    "3,5,101400000,-;Out of memory: Killed process 7 (else) total-vm:9kB, "
                    "anon-rss:4kB\n");
    w.now_ns += SECOND;
    CHECK(trk_session_finish(w.session, &error) == 0);
    trk_session_summary(w.session, &summary);
    CHECK_NEAR(summary.oom_kills.value, 1, 0);
    CHECK_TEXT(summary.oom_kills.source, "cgroup");
    CHECK_U64(summary.oom_pid, 100);
    CHECK_TEXT(summary.oom_command, "hungry");
    CHECK_NEAR(summary.oom_process_bytes, 40096 * 1024, 0);
    CHECK_NEAR(summary.oom_limit_bytes, 51200 * 1024, 0);
    CHECK_TEXT(summary.oom_cgroup, "/other");
    CHECK(!summary.oom_of_machine);
    CHECK(summary.oom_advice_bytes > summary.oom_limit_bytes);
    world_done(&w);
}

/* Histories, as exit stops report them: the i-th process has used i microseconds. */
static void add_histories(struct world *w, unsigned count)
{
    struct trk_stream *stream = &w->session->gather.stream;
    struct trk_account_options options = {
        .root_pid = 1, .histories_max = 10000, .page_bytes = 4096, .ticks_per_second = 100};
    REQUIRE(trk__stream_start(stream, &options) == 0);
    for (unsigned i = 1; i <= count; i++) {
        struct trk_observation exited = {.kind = TRK_OBS_EXITED,
                                         .pid = (pid_t)(1000 + i),
                                         .at_ns = 60 * SECOND,
                                         .exited = {.start_ticks = 5000, .user_ns = i * 1000u}};
        snprintf(exited.exited.comm, sizeof exited.exited.comm, "c%u", i % 3);
        trk__observe(stream, &exited);
    }
    trk__observe_step(stream, TRK_STEP_FINISH, 0, 61 * SECOND);
}

static void beyond_ten_thousand_the_smallest_processes_are_merged(void)
{
    enum { LIVES = 25000, KEPT = 10000 };
    struct trk_options options;
    struct trk_process_info info = {.size = sizeof info};
    struct world w;
    trk_options_init(&options);
    options.list_processes = true;
    world_init(&w, &options);
    add_histories(&w, LIVES);
    double cpu = 0;
    uint64_t count = 0;
    size_t i = 0;
    for (; trk_session_process(w.session, i, &info) == 0; i++) {
        CHECK((info.pid != 0) == (i < KEPT));
        if (i < KEPT)
            CHECK_NEAR(info.cpu_seconds, (LIVES - (double)i) * 1e-6, 1e-12);
        CHECK_TEXT(info.source, "ptrace");
        count += info.count;
        cpu += info.cpu_seconds;
    }
    CHECK_U64(i, KEPT + 3); /* a line for each command */
    CHECK_U64(count, LIVES);
    CHECK_NEAR(cpu, LIVES * (LIVES + 1.0) / 2 * 1e-6, 1e-6);
    world_done(&w);
}

/* Each would take the other's children. */
static void only_one_session_at_a_time_reaps(void)
{
    struct trk_options options;
    struct trk_error error = {0};
    trk_session *first = NULL, *second = NULL, *other = NULL;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    trk_options_init(&options);
    CHECK(trk_session_new(&options, &other, &error) == 0); /* one that reaps nothing is in no way */
    options.reap_children = true;
    options.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    CHECK(trk_session_new(&options, &first, &error) == 0);
    CHECK(trk_session_new(&options, &second, &error) == -EBUSY);
    CHECK(!second && strstr(error.message, "another session of this program"));
    trk_session_free(other);
    CHECK(trk_session_new(&options, &second, &error) == -EBUSY);
    pid_t pid = fork();
    if (pid == 0) /* a copy has none of the children */
        _exit(trk_session_new(&options, &second, &error) == 0 ? 0 : 1);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    trk_session_free(first);
    CHECK(trk_session_new(&options, &second, &error) == 0);
    trk_session_free(second);
    close(options.signal_fd);
}

/* arm64 and ppc64 may have pages of 64 KiB. */
static void pages_may_be_larger(void)
{
    enum { MIB = 1 << 20, PAGE_BYTES = 64 << 10 };
    struct trk_options options;
    struct world w;
    uint64_t high = 0;
    trk_options_init(&options);
    options.memory = TRK_MEMORY_RSS;
    world_init(&w, &options);
    w.session->context.page_bytes = PAGE_BYTES;
    start(&w, 100);
    tick(&w, SECOND / 500);
    fake_process_write(
        &w.root,
        &(struct fake_process){
            .pid = 100, .ppid = 1, .start = 1, .utime = 60, .minflt = 20, .resident = 1000});
    tick(&w, SECOND);
    CHECK_NEAR(value(&w, "process_rss_bytes"), 1000 * PAGE_BYTES, 0);
    CHECK(trk__peak_high(&w.session->gather.account.peak, 0, &high));
    CHECK(high >= 1000 * PAGE_BYTES && high <= 1100 * (uint64_t)PAGE_BYTES);
    world_done(&w);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(a_tick_covers_its_interval),
        TEST(a_reaped_child_shows_once_and_within_the_cores),
        TEST(statistics_are_weighted_by_time),
        TEST(a_short_closing_row_makes_no_peak),
        TEST(options_out_of_range_are_refused),
        TEST(a_process_that_does_not_exist_is_reported),
        TEST(processes_of_a_job_that_exited_at_once_are_counted),
        TEST(memory_is_flat_over_many_ticks),
        TEST(a_peak_rss_that_is_unknown_counts_as_the_largest),
        TEST(a_program_that_was_seen_loading_has_no_peak),
        TEST(one_that_is_being_released_is_not_lost),
        TEST(one_that_was_waited_for_has_grown_by_what_it_faulted),
        TEST(a_few_huge_faults_may_have_brought_much),
        TEST(huge_faults_before_the_first_sample_do_not_count),
        TEST(a_read_after_memory_was_given_back_lowers_no_bound),
        TEST(one_that_was_forked_too_late_for_a_sample_counts_in_the_next),
        TEST(the_kernel_log_names_the_process_that_was_killed),
        TEST(beyond_ten_thousand_the_smallest_processes_are_merged),
        TEST(only_one_session_at_a_time_reaps),
        TEST(pages_may_be_larger),
    };
    return CHECK_MAIN(argc, argv, tests);
}
