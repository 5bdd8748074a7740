#include "model_ops.h"

#include "memory/model.h"
#include "memory/scheduler.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 24, PIDS = 40, COMMANDS = 4, PAGE_KB = 4 };

struct life {
    const uint8_t *at, *end;
    struct trk_mem_tick_proc process[PROCESSES];
    bool alive[PROCESSES];
    struct trk_mem_tick_proc fed[PROCESSES]; /* in the last tick */
    size_t fed_count;
    uint64_t next_start, next_stack, now_ns;
    bool has_cgroup;
    trk_mem_model *model;
    struct trk_mem_scheduler scheduler;
    const char *failure;
};

static uint8_t take(struct life *life)
{
    return life->at < life->end ? *life->at++ : 0;
}

/* Small and large amounts alike: up to 2^27 pages. */
static uint64_t take_pages(struct life *life)
{
    uint64_t mantissa = take(life), shift = take(life) % 20;
    return mantissa << shift;
}

static void require(struct life *life, bool condition, const char *what)
{
    if (!condition && !life->failure)
        life->failure = what;
}

static double anon_kb(const struct trk_mem_tick_proc *process)
{
    uint64_t shared = process->shared_pages < process->resident_pages ? process->shared_pages
                                                                      : process->resident_pages;
    return (double)(process->resident_pages - shared) * PAGE_KB;
}

static void check(struct life *life)
{
    struct trk_mem_total total;
    trk__mem_model_total(life->model, &total);
    double sum_kb = 0, largest_kb = 0;
    for (size_t i = 0; i < life->fed_count; i++) {
        const struct trk_mem_tick_proc *process = &life->fed[i];
        double rss_kb = (double)process->resident_pages * PAGE_KB;
        sum_kb += rss_kb;
        largest_kb = fmax(largest_kb, anon_kb(process));
        struct trk_mem_estimate estimate;
        if (trk__mem_model_estimate(life->model, process->pid, &estimate) < 0)
            continue; /* above the ceiling */
        double slack_kb = 1e-6 * (rss_kb + 1);
        require(life, estimate.pss_kb >= 0, "a process has negative memory");
        require(life, estimate.pss_kb <= rss_kb + slack_kb, "a process has more than its RSS");
        require(life, estimate.low_kb <= estimate.pss_kb + slack_kb,
                "a process is below its bracket");
        require(life, estimate.high_kb >= estimate.pss_kb - slack_kb,
                "a process is above its bracket");
    }
    double slack_kb = 1e-6 * (sum_kb + 1);
    require(life, isfinite(total.pss_kb) && isfinite(total.low_kb) && isfinite(total.high_kb),
            "the total is not a number");
    require(life, total.pss_kb >= 0 && total.low_kb >= 0, "the total is negative");
    require(life, total.pss_kb >= largest_kb - slack_kb,
            "the total is below the largest anonymous memory");
    require(life, total.pss_kb <= sum_kb + slack_kb, "the total is above the sum of RSS");
    require(life,
            total.low_kb <= total.pss_kb + slack_kb && total.pss_kb <= total.high_kb + slack_kb,
            "the total is outside its bracket");
    require(life, total.estimated_ratio >= 0 && total.estimated_ratio <= 1,
            "the estimated share is none");
}

static size_t pick(struct life *life)
{
    return take(life) % PROCESSES;
}

static void start(struct life *life, size_t slot, const struct trk_mem_tick_proc *like)
{
    struct trk_mem_tick_proc *process = &life->process[slot];
    pid_t ppid = like ? like->pid : 1;
    if (like)
        *process = *like;
    else
        *process = (struct trk_mem_tick_proc){.start_stack = (life->next_stack += 16)};
    process->pid = 2 + take(life) % PIDS; /* may be in use: the last one told wins */
    process->ppid = ppid;
    process->start_time = life->next_start++;
    life->alive[slot] = true;
}

static void exec(struct life *life, struct trk_mem_tick_proc *process)
{
    process->start_stack = take(life) % 8 == 0 ? 0 : (life->next_stack += 16);
    process->resident_pages = take_pages(life);
    process->shared_pages = take_pages(life);
    process->size_pages = process->resident_pages * 2;
    memset(process->comm, 0, sizeof(process->comm));
    process->comm[0] = (char)('a' + take(life) % COMMANDS);
}

static bool told_already(const struct life *life, pid_t pid)
{
    for (size_t i = 0; i < life->fed_count; i++)
        if (life->fed[i].pid == pid)
            return true;
    return false;
}

static void tick(struct life *life)
{
    trk__mem_tick_begin(life->model);
    life->fed_count = 0;
    size_t first = take(life) % PROCESSES;
    for (size_t i = 0; i < PROCESSES; i++) {
        size_t slot = (first + i) % PROCESSES;
        const struct trk_mem_tick_proc *process = &life->process[slot];
        if (!life->alive[slot] || told_already(life, process->pid))
            continue;
        if (trk__mem_tick_process(life->model, process) == 0)
            life->fed[life->fed_count++] = *process;
    }
    struct trk_mem_cgroup cgroup = {.anon_kb = (double)take_pages(life) * PAGE_KB,
                                    .shmem_kb = take(life) * 1000.0,
                                    .mapped_file_kb = take(life) * 1000.0};
    trk__mem_tick_end(life->model, life->has_cgroup ? &cgroup : NULL);
    trk__mem_scheduler_tick(&life->scheduler, life->now_ns += 100000000);
    check(life);
}

static void feed_read(struct life *life, pid_t pid, uint64_t start_time, bool sampled)
{
    if (sampled) {
        struct trk_mem_sample sample = {
            .anon = {take(life), take(life), take(life), take(life) / 128.0},
            .file = {take(life), take(life), take(life), take(life) / 128.0},
            .shmem = {take(life), take(life), take(life), take(life) / 128.0},
            .rss_shmem_kb = (double)take_pages(life),
        };
        sample.lateness = take(life) / 128.0;
        trk__mem_model_refresh_sample(life->model, pid, start_time, &sample);
        return;
    }
    struct trk_mem_truth truth = {.pss_anon_kb = (double)take_pages(life),
                                  .pss_file_kb = (double)take_pages(life),
                                  .pss_shmem_kb = (double)take_pages(life),
                                  .private_dirty_kb = (double)take_pages(life),
                                  .rss_kb = (double)take_pages(life),
                                  .anonymous_kb = (double)take_pages(life),
                                  .lateness = take(life) / 128.0};
    trk__mem_model_refresh(life->model, pid, start_time, &truth);
}

static void buy(struct life *life)
{
    struct trk_mem_choice choice;
    double tokens_ns = life->scheduler.tokens_ns;
    for (int i = 0;
         i < PROCESSES && trk__mem_scheduler_next(&life->scheduler, life->model, &choice); i++) {
        require(life, choice.predicted_ns <= life->scheduler.tokens_ns,
                "a read is bought on credit");
        feed_read(life, choice.pid, choice.start_time, choice.primitive == TRK_MEM_SAMPLE);
        trk__mem_scheduler_spend(&life->scheduler, &choice, (uint64_t)choice.predicted_ns, 1000);
        check(life);
    }
    require(life, life->scheduler.tokens_ns <= tokens_ns, "reads are free");
}

static void read_any(struct life *life)
{
    if (life->fed_count == 0)
        return;
    const struct trk_mem_tick_proc *process = &life->fed[take(life) % life->fed_count];
    uint8_t kind = take(life);
    if (kind % 16 == 0)
        trk__mem_model_refused(life->model, process->pid, process->start_time);
    else
        feed_read(life, process->pid, process->start_time, kind % 2);
    check(life);
}

static void change(struct life *life, struct trk_mem_tick_proc *process)
{
    switch (take(life) % 6) {
    case 0:
        process->resident_pages += take_pages(life);
        break;
    case 1:
        process->resident_pages /= 1 + take(life) % 4;
        break;
    case 2:
        process->minflt += take_pages(life);
        break;
    case 3:
        process->shared_pages += take_pages(life);
        break;
    case 4:
        process->shared_pages /= 2;
        break;
    default:
        process->comm[0] = (char)('a' + take(life) % COMMANDS);
        break;
    }
}

static void step(struct life *life)
{
    uint8_t op = take(life) % 12;
    size_t slot = pick(life);
    struct trk_mem_tick_proc *process = &life->process[slot];
    if (op == 0) {
        start(life, slot, NULL);
    } else if (op <= 2) {
        size_t child = pick(life);
        if (life->alive[slot] && child != slot)
            start(life, child, process);
        if (op == 2 && child != slot) /* an ordinary fork, not a vfork */
            life->process[child].minflt = take(life), life->process[child].shared_pages /= 2;
    } else if (op == 3) {
        exec(life, process);
    } else if (op == 4) {
        life->alive[slot] = false;
    } else if (op <= 7) {
        change(life, process);
    } else if (op == 8) {
        read_any(life);
    } else if (op == 9) {
        buy(life);
    } else {
        tick(life);
    }
}

const char *model_ops_run(const uint8_t *data, size_t size)
{
    struct life life = {
        .at = data, .end = data + size, .next_start = 1, .next_stack = 0x7ffc00000000};
    uint8_t flags = take(&life);
    struct trk_mem_model_options options = {.processes_max = flags & 1 ? 8 : 0,
                                            .stack_not_random = flags & 2};
    life.has_cgroup = flags & 4;
    trk__mem_scheduler_init(&life.scheduler, &(struct trk_mem_scheduler_options){
                                                 .budget_ratio = 0.01,
                                                 .stall_cap_ns = flags & 8 ? 2000000 : 0,
                                                 .may_sample = flags & 16});
    if (trk__mem_model_new(&options, &life.model) < 0)
        return NULL;
    while (life.at < life.end && !life.failure)
        step(&life);
    if (!life.failure)
        tick(&life);
    trk__mem_model_free(life.model);
    return life.failure;
}
