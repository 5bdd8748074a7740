/* Observation logs: every kind comes back as it was written, and a line that is none is refused. */
#include "account/observation_log.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

static struct trk_usage numbered_usage(uint64_t first)
{
    struct trk_usage usage;
    for (unsigned f = 0; f < TRK_USAGE_COUNT; f++) {
        usage.own[f] = first + f;
        usage.waited[f] = UINT64_MAX - first - f;
    }
    return usage;
}

/* Every field of the kind is set, and no two to the same value. */
static struct trk_observation whole_observation(enum trk_observation_kind kind)
{
    struct trk_observation o;
    memset(&o, 0, sizeof o);
    o.kind = kind;
    o.pid = 4194303;
    o.at_ns = INT64_MAX;
    switch (kind) {
    case TRK_OBS_FOUND:
        o.found.ppid = 1;
        o.found.start_ticks = UINT64_MAX;
        memcpy(o.found.comm, "a) b\n%=\x7f\xff", 10);
        o.found.is_root = true;
        break;
    case TRK_OBS_READ:
        o.read.start_ticks = 1;
        o.read.ppid = 2;
        memcpy(o.read.comm, "fifteen letters", 16);
        o.read.state = 'Z';
        o.read.io_known = o.read.io_denied = true;
        o.read.threads = 3;
        o.read.start_stack = 0x7fffffffffff;
        o.read.size_pages = 4;
        o.read.resident_pages = 5;
        o.read.shared_pages = 6;
        o.read.usage = numbered_usage(100);
        break;
    case TRK_OBS_STATUS:
        o.status.has_memory = o.status.is_denied = o.status.ignores_sigchld = true;
        o.status.peak_rss_bytes = 7;
        break;
    case TRK_OBS_WAIT:
        o.wait.status = -1;
        o.wait.user_ns = 1;
        o.wait.system_ns = 2;
        o.wait.minor_faults = 3;
        o.wait.major_faults = 4;
        o.wait.read_bytes = 5;
        o.wait.write_bytes = 6;
        o.wait.voluntary_switches = 7;
        o.wait.involuntary_switches = 8;
        o.wait.peak_rss_bytes = 9;
        break;
    case TRK_OBS_FORK:
    case TRK_OBS_EXEC:
    case TRK_OBS_EXIT:
        o.event.ppid = 1;
        o.event.status = 256;
        memcpy(o.event.comm, "sh", 3);
        break;
    case TRK_OBS_RECORD:
        o.record.status = 9;
        o.record.is_last = true;
        memcpy(o.record.comm, "dd", 3);
        o.record.cpu_ns = 1;
        o.record.peak_rss_bytes = 2;
        o.record.read_bytes = 3;
        o.record.write_bytes = 4;
        break;
    case TRK_OBS_EXITED:
        o.exited.ppid = 1;
        o.exited.start_ticks = 2;
        memcpy(o.exited.comm, "cc1", 4);
        o.exited.status = 3;
        o.exited.has_bytes = true;
        o.exited.user_ns = 4;
        o.exited.system_ns = 5;
        o.exited.read_bytes = 6;
        o.exited.write_bytes = 7;
        o.exited.faults = 8;
        o.exited.waited_faults = 9;
        break;
    case TRK_OBS_MACHINE:
        o.machine = (struct trk_obs_machine){1, 2, 3, 4, 5};
        break;
    case TRK_OBS_HUGE:
        o.huge = (struct trk_obs_huge){1, 2};
        break;
    case TRK_OBS_EXACT:
        o.exact = (struct trk_obs_exact){1, 2};
        break;
    case TRK_OBS_MEMORY:
        o.memory.known = true;
        o.memory.total_bytes = 1;
        o.memory.low_bytes = 2;
        o.memory.high_bytes = 3;
        o.memory.estimated_bytes = 4;
        o.memory.given_back_bytes = 5;
        o.memory.rss_bytes = 6;
        o.memory.virtual_bytes = 7;
        break;
    case TRK_OBS_OOM_KILL:
        o.oom_kill.at_us = 1;
        o.oom_kill.pid = 2;
        memcpy(o.oom_kill.comm, "hungry", 7);
        o.oom_kill.rss_bytes = 3;
        o.oom_kill.by_cgroup = true;
        memset(o.oom_kill.cgroup, '/', sizeof o.oom_kill.cgroup - 1);
        o.oom_kill.limit_bytes = 4;
        break;
    case TRK_OBS_GONE:
    case TRK_OBS_EXITING:
    case TRK_OBS_COUNTER:
    case TRK_OBS_TEARDOWN:
    case TRK_OBS_OOM_COUNT:
        o.number = UINT64_MAX;
        break;
    case TRK_OBS_SOURCE:
        o.source.id = TRK_BY_PTRACE;
        o.source.change = TRK_CHANGE_CLOSED;
        break;
    case TRK_OBS_STEP:
        o.step = TRK_STEP_FINISH;
        break;
    case TRK_OBS_ROOT_EXIT:
    case TRK_OBS_TRACED:
    case TRK_OBS_KINDS:
        break;
    }
    return o;
}

static int parse(const char *text, struct trk_observation *ret_observation)
{
    return trk__observation_parse(trk__cursor(text, strcspn(text, "\n")), ret_observation);
}

static void check_round_trip(const struct trk_observation *written)
{
    struct trk_buffer text, again;
    struct trk_observation read;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&again, TRK_BUFFER_LIMIT_DEFAULT);
    trk__observation_put(&text, written);
    memset(&read, 0xff, sizeof read); /* what is absent in the text becomes 0 */
    if (parse(text.data, &read) < 0) {
        FAIL("refused: %s", text.data);
    } else {
        CHECK(memcmp(&read, written, sizeof read) == 0);
        trk__observation_put(&again, &read);
        CHECK_TEXT(again.data, text.data);
    }
    CHECK(memchr(text.data, '\n', text.len) == text.data + text.len - 1); /* one line */
    trk__buffer_done(&again);
    trk__buffer_done(&text);
}

static void every_kind_comes_back_as_it_was(void)
{
    for (unsigned kind = 0; kind < TRK_OBS_KINDS; kind++) {
        struct trk_observation whole = whole_observation(kind), empty;
        check_round_trip(&whole);
        memset(&empty, 0, sizeof empty);
        empty.kind = kind;
        empty.pid = -1;
        empty.at_ns = INT64_MIN;
        check_round_trip(&empty);
    }
}

static void a_line_is_readable(void)
{
    struct trk_observation found;
    memset(&found, 0, sizeof found);
    found.kind = TRK_OBS_FOUND;
    found.pid = 101;
    found.at_ns = 5;
    found.found.ppid = 100;
    found.found.start_ticks = 77;
    memcpy(found.found.comm, "a b", 4);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__observation_put(&text, &found);
    CHECK_TEXT(text.data, "found 101 5 ppid=100 start_ticks=77 comm=a%20b\n");
    trk__buffer_done(&text);
}

static void a_line_that_is_none_is_refused_and_leaves_the_result(void)
{
    static const char *const bad[] = {
        "",
        " ",
        "founder 1 2",
        "found",
        "found 1",
        "found x 2",
        "found 1 x",
        "found 1 2x",
        "found 1 2 ppid",
        "found 1 2 ppid=",
        "found 1 2 ppid=x",
        "found 1 2 ppid=3x",
        "found 1 2 nothing=3",
        "found 1 2 threads=3",          /* of another kind */
        "found 1 2 ppid=2147483648",    /* a PID is an int */
        "found 2147483648 2",           /* likewise */
        "found 1 9223372036854775808",  /* more than 64 bits with a sign */
        "found 1 -9223372036854775809", /* likewise */
        "found 1 2 start_ticks=18446744073709551616",
        "found 1 2 start_ticks=-1",
        "found 1 2 comm=sixteen%20letters!", /* one too many */
        "found 1 2 comm=a%2",                /* cut */
        "found 1 2 comm=a%xy",
        "found 1 2 comm=a%00b", /* no name has that byte */
        "found 1 2 is_root=2",
        "read 1 2 state=300",
        "read 1 2 usage.own=1,2,3", /* too few */
        "read 1 2 usage.own=1,2,3,4,5,6,7,8,9,10,11,12,13,14",
        "source 0 1 id=6",
        "source 0 1 id=-1",
        "source 0 1 id=1 change=4",
        "step 0 1 step=9",
        "step 0 1 step=-1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trk_observation observation = {.pid = 77};
        if (parse(bad[i], &observation) != -EINVAL)
            FAIL("not refused: %s", bad[i]);
        CHECK_U64(observation.pid, 77);
    }
}

static void options_come_back_as_they_were(void)
{
    struct trk_account_options written, read;
    memset(&written, 0, sizeof written);
    memset(&read, 0, sizeof read);
    written.root_pid = 100;
    written.self_pid = 99;
    written.is_child = written.has_children = true;
    written.histories_max = 10000;
    written.cores = 128;
    written.page_bytes = 65536;
    written.ticks_per_second = 100;
    written.start_ns = 1;
    written.realtime_offset_ns = INT64_MAX;
    written.boot_offset_ns = -5;
    written.own_peak_rss_bytes = 1 << 20;
    written.wanted = 63;
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__account_options_put(&text, &written);
    REQUIRE(trk__account_options_parse(trk__cursor(text.data, text.len - 1), &read) == 0);
    CHECK(memcmp(&read, &written, sizeof read) == 0);
    trk__buffer_done(&text);
}

static void options_without_which_nothing_can_be_counted_are_refused(void)
{
    static const char *const bad[] = {
        "",
        "account 2 page_bytes=4096 ticks_per_second=100",
        "account 12 page_bytes=4096 ticks_per_second=100",
        "account 1",
        "account 1 page_bytes=4096",
        "account 1 ticks_per_second=100",
        "account 1 page_bytes=4096 ticks_per_second=100 colour=3",
        "account 1 page_bytes=4096 ticks_per_second=100 cores",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trk_account_options options = {.root_pid = 77};
        if (trk__account_options_parse(trk__cursor(bad[i], strlen(bad[i])), &options) != -EINVAL)
            FAIL("not refused: %s", bad[i]);
        CHECK_U64(options.root_pid, 77);
    }
}

/* A stream writes what it passes on: the log has the options first, then each observation in order. */
static void a_stream_writes_what_it_passes_on(void)
{
    enum { OBSERVATIONS = 3000, SIZE = 1 << 20 };
    struct trk_account account;
    struct trk_stream stream;
    static char text[SIZE];
    int fd = memfd_create("log", MFD_CLOEXEC);
    int read_fd = dup(fd);
    REQUIRE(fd >= 0 && read_fd >= 0);
    trk__stream_init(&stream, &account);
    trk__stream_log_to(&stream, fd);
    struct trk_account_options options = {
        .root_pid = 1, .page_bytes = 4096, .ticks_per_second = 100};
    REQUIRE(trk__stream_start(&stream, &options) == 0);
    for (int i = 0; i < OBSERVATIONS; i++)
        trk__observe_step(&stream, TRK_STEP_DRAINED, 0, i + 1);
    CHECK_U64(account.drain, OBSERVATIONS);
    CHECK_U64(stream.failure, 0);
    trk__stream_done(&stream);
    trk__account_done(&account);

    ssize_t len = pread(read_fd, text, sizeof text, 0);
    REQUIRE(len > 0 && len < SIZE);
    struct trk_cursor log = trk__cursor(text, (size_t)len), line;
    struct trk_observation observation;
    REQUIRE(trk__cursor_line(&log, &line) && trk__account_options_parse(line, &options) == 0);
    int64_t at_ns = 0;
    while (trk__cursor_line(&log, &line)) {
        CHECK(trk__observation_parse(line, &observation) == 0);
        CHECK(observation.at_ns == ++at_ns);
    }
    CHECK_U64(at_ns, OBSERVATIONS);
    close(read_fd);
}

static void a_log_that_cannot_be_written_is_reported_and_stops_nothing(void)
{
    struct trk_account account;
    struct trk_stream stream;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        SKIP("no /dev/full");
    trk__stream_init(&stream, &account);
    trk__stream_log_to(&stream, fd);
    struct trk_account_options options = {
        .root_pid = 1, .page_bytes = 4096, .ticks_per_second = 100};
    REQUIRE(trk__stream_start(&stream, &options) == 0);
    for (int i = 0; i < 10000; i++)
        trk__observe_step(&stream, TRK_STEP_DRAINED, 0, i + 1);
    CHECK(stream.failure == -ENOSPC);
    CHECK_U64(account.drain, 10000);
    trk__stream_done(&stream);
    trk__account_done(&account);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(every_kind_comes_back_as_it_was),
        TEST(a_line_is_readable),
        TEST(a_line_that_is_none_is_refused_and_leaves_the_result),
        TEST(options_come_back_as_they_were),
        TEST(options_without_which_nothing_can_be_counted_are_refused),
        TEST(a_stream_writes_what_it_passes_on),
        TEST(a_log_that_cannot_be_written_is_reported_and_stops_nothing),
    };
    return CHECK_MAIN(argc, argv, tests);
}
