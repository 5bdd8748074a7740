/* Records the exact memory of a process tree, for bench/replay_traces:
 *
 *   record_trace [--interval-ms N] (--pid PID | -- COMMAND...) | gzip > mine.log.gz
 *
 * At each interval the tree is stopped, everything is read, and it goes on: a workload that looks at the clock notices.
 * The command's output goes to stderr. Fields that need a memory cgroup are written as 0. */
#include "base/cleanup.h"
#include "base/file.h"
#include "platform/linux/proc_pagemap.h"
#include "platform/linux/proc_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_SIZE = 8192, INTERVAL_MS = 100, STOP_ROUNDS = 5, NOT_STARTED = 127, USAGE = 125 };

struct recorder {
    struct trk_context context;
    struct trk_account account;
    struct trk_stream stream;
    struct trk_scan scan;
    struct trk_pagemap_sampler sampler;
    int64_t started_ns, stopped_ns; /* stopped: in total, not part of the workload's time */
    unsigned tick;
};

struct timed_text {
    char text[TEXT_SIZE];
    int64_t took_ns;
};

static bool read_text(const struct recorder *recorder, pid_t pid, const char *name,
                      struct timed_text *ret_text)
{
    char path[64];
    snprintf(path, sizeof path, "%d/%s", (int)pid, name);
    int64_t before_ns = trk__context_monotonic_ns(&recorder->context);
    int len = trk__file_read_small_at(recorder->context.proc_fd, path, ret_text->text,
                                      sizeof ret_text->text);
    ret_text->took_ns = trk__context_monotonic_ns(&recorder->context) - before_ns;
    return len > 0;
}

/* The number after "Key:" at the start of a line; 0 where it is not told. */
static uint64_t value_of(const struct timed_text *text, const char *key)
{
    struct trk_cursor all = trk__cursor(text->text, strlen(text->text)), line;
    uint64_t value;
    while (trk__cursor_line(&all, &line))
        if (trk__cursor_accept(&line, key) && trk__cursor_accept(&line, ":") &&
            trk__cursor_u64(&line, &value))
            return value;
    return 0;
}

static void signal_all(struct recorder *recorder, int signal_number)
{
    const struct trk_process_table *table = &recorder->account.table;
    for (uint32_t i = 0; i < table->count; i++)
        if (!table->item[table->order[i]].is_gone)
            kill(table->item[table->order[i]].pid, signal_number);
}

static void find(struct recorder *recorder)
{
    trk__scan_find(&recorder->scan, &recorder->stream, 0, false, false);
}

/* A process can fork before it stops: until a round finds no new one. */
static void stop_all(struct recorder *recorder)
{
    for (int round = 0; round < STOP_ROUNDS; round++) {
        uint64_t known = recorder->account.table.serials;
        signal_all(recorder, SIGSTOP);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        find(recorder);
        if (recorder->account.table.serials == known)
            return;
    }
}

static void print_values(const struct timed_text *text, const char *const *keys)
{
    for (; *keys; keys++)
        printf(" %" PRIu64, value_of(text, *keys));
}

static void print_sample(struct recorder *recorder, pid_t pid)
{
    struct trk_page_sample sample;
    int64_t before_ns = trk__context_monotonic_ns(&recorder->context);
    if (!trk__pagemap_sampler_is_complete(&recorder->sampler) ||
        trk__pagemap_sample(&recorder->sampler, pid, &sample) < 0)
        return;
    int64_t took_ns = trk__context_monotonic_ns(&recorder->context) - before_ns;
    const struct trk_page_stratum *a = &sample.anon, *f = &sample.file, *s = &sample.shmem;
    printf("S %u %d %u %u %.4f %u %u %u %.4f %u %" PRId64 " 0 %" PRId64 " %zu %u %u %.4f %u\n",
           recorder->tick, pid, a->present, a->exclusive, a->mean_share, a->looked_up, f->present,
           f->exclusive, f->mean_share, f->looked_up, took_ns, sample.longest_call_ns,
           recorder->sampler.range_count, s->present, s->exclusive, s->mean_share, s->looked_up);
}

static void print_process(struct recorder *recorder, const struct trk_process *process)
{
    static const char *const of_status[] = {"RssAnon", "RssFile", "RssShmem", "VmHWM", NULL};
    static const char *const of_rollup[] = {"Pss",
                                            "Pss_Anon",
                                            "Pss_File",
                                            "Pss_Shmem",
                                            "Private_Clean",
                                            "Private_Dirty",
                                            "Shared_Clean",
                                            "Shared_Dirty",
                                            "Anonymous",
                                            "AnonHugePages",
                                            NULL};
    struct timed_text status, rollup;
    if (!read_text(recorder, process->pid, "status", &status) ||
        !read_text(recorder, process->pid, "smaps_rollup", &rollup))
        return;
    char comm[sizeof process->comm];
    memcpy(comm, process->comm, sizeof comm);
    for (char *c = comm; *c; c++)
        if (*c == ' ' || *c == '\n' || *c == '\t')
            *c = '_'; /* fields are separated by blanks */
    uint64_t page_kb = recorder->context.page_bytes / 1024;
    printf("P %u %d %d %" PRIu64 " %" PRIx64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu64,
           recorder->tick, process->pid, process->ppid, process->start_ticks, process->start_stack,
           comm[0] ? comm : "-", process->threads, process->minor_faults, process->major_faults,
           process->resident_pages * page_kb, process->size_pages * page_kb,
           process->resident_pages * page_kb, process->shared_pages * page_kb);
    print_values(&status, of_status);
    print_values(&rollup, of_rollup);
    printf(" 0 %" PRId64 " %" PRId64 "\n", status.took_ns, rollup.took_ns);
    print_sample(recorder, process->pid);
}

/* False when the tree is empty. */
static bool record_tick(struct recorder *recorder)
{
    const struct trk_process_table *table = &recorder->account.table;
    int64_t before_ns = trk__context_monotonic_ns(&recorder->context);
    find(recorder);
    stop_all(recorder);
    trk__observe_step(&recorder->stream, TRK_STEP_DRAINED, 0, before_ns);
    trk__scan_read(&recorder->scan, &recorder->stream);
    trk__observe_step(&recorder->stream, TRK_STEP_CREDIT, 0, before_ns);
    trk__observe_step(&recorder->stream, TRK_STEP_SETTLE, 0, before_ns);
    uint32_t living = trk__process_live_count(table);
    double seconds = (double)(before_ns - recorder->started_ns - recorder->stopped_ns) / 1e9;
    printf("T %u %.4f %u 0 0 0 0 0 0 0\n", recorder->tick, seconds, living);
    for (uint32_t i = 0; i < table->count; i++)
        if (trk__process_is_live(&table->item[table->order[i]]))
            print_process(recorder, &table->item[table->order[i]]);
    signal_all(recorder, SIGCONT);
    trk__observe_step(&recorder->stream, TRK_STEP_SAMPLE, 0, before_ns);
    recorder->stopped_ns += trk__context_monotonic_ns(&recorder->context) - before_ns;
    recorder->tick++;
    return living > 0;
}

static pid_t start_command(char **argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO); /* ours is the trace */
        execvp(argv[0], argv);
        fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
        _exit(NOT_STARTED);
    }
    return pid;
}

static int record(pid_t root, long interval_ms, bool is_child)
{
    struct recorder recorder = {0};
    if (trk__context_init(&recorder.context, NULL, NULL) < 0)
        return 1;
    struct trk_account_options options = {.root_pid = root,
                                          .self_pid = getpid(),
                                          .is_child = is_child,
                                          .has_children = true,
                                          .histories_max = 1,
                                          .cores = 1,
                                          .page_bytes = recorder.context.page_bytes,
                                          .ticks_per_second =
                                              (uint64_t)recorder.context.ticks_per_second};
    trk__stream_init(&recorder.stream, &recorder.account);
    trk__scan_init(&recorder.scan, &recorder.context, getpid());
    trk__pagemap_sampler_init(&recorder.sampler, &recorder.context, (uint64_t)root);
    int r = trk__stream_start(&recorder.stream, &options);
    if (r == 0)
        r = trk__scan_root(&recorder.scan, &recorder.stream, root);
    recorder.started_ns = trk__context_monotonic_ns(&recorder.context);
    for (bool living = r == 0; living;) {
        nanosleep(&(struct timespec){.tv_sec = interval_ms / 1000,
                                     .tv_nsec = interval_ms % 1000 * 1000000},
                  NULL);
        living = record_tick(&recorder);
        while (is_child && waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    if (r < 0)
        fprintf(stderr, "process %d: %s\n", (int)root, strerror(-r));
    trk__pagemap_sampler_done(&recorder.sampler);
    trk__scan_done(&recorder.scan);
    trk__stream_done(&recorder.stream);
    trk__account_done(&recorder.account);
    trk__context_done(&recorder.context);
    return r < 0 || fflush(stdout) != 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    static const struct option options_table[] = {
        {"interval-ms", required_argument, NULL, 'i'}, {"pid", required_argument, NULL, 'p'}, {0}};
    long interval_ms = INTERVAL_MS;
    pid_t root = 0;
    for (int c; (c = getopt_long(argc, argv, "+", options_table, NULL)) != -1;) {
        switch (c) {
        case 'i':
            interval_ms = atol(optarg);
            break;
        case 'p':
            root = atoi(optarg);
            break;
        default:
            return USAGE;
        }
    }
    if (interval_ms < 1 || (root < 1) == (optind == argc)) {
        fprintf(stderr, "record_trace [--interval-ms N] (--pid PID | -- COMMAND...)\n");
        return USAGE;
    }
    bool is_child = root < 1;
    if (is_child) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        root = start_command(&argv[optind]);
    }
    return root < 1 ? 1 : record(root, interval_ms, is_child);
}
