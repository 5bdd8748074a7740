/* What a tick of the memory model costs: user-space instructions (and ns) a process, for trees that are steady, that
 * change all over, and that come and go.
 *
 *   memory_model_cost [PROCESSES] [TICKS] */
#include "memory/model.h"
#include "memory/scheduler.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int counter_open(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t counter_read(int fd)
{
    uint64_t value = 0;
    return fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How many processes share a family; how a process differs from the tick before. */
struct shape {
    const char *name;
    uint32_t family_size;
    void (*change)(struct trk_mem_tick_proc *process, uint32_t tick);
};

static void stay(struct trk_mem_tick_proc *process, uint32_t tick)
{
    (void)process, (void)tick;
}

static void move(struct trk_mem_tick_proc *process, uint32_t tick)
{
    process->minflt += 10;
    process->resident_pages += (process->pid + tick) % 3;
    process->shared_pages += (process->pid + tick) % 2;
}

static void come_and_go(struct trk_mem_tick_proc *process, uint32_t tick)
{
    if (process->pid % 10 == (pid_t)(tick % 10))
        process->start_time++;
}

static const struct shape shapes[] = {
    {"steady, alone", 1, stay},
    {"steady, families of 50", 50, stay},
    {"all change, alone", 1, move},
    {"all change, families of 50", 50, move},
    {"a tenth is new, alone", 1, come_and_go},
};

static void start(struct trk_mem_tick_proc *process, uint32_t i, uint32_t family_size)
{
    *process = (struct trk_mem_tick_proc){.pid = (pid_t)(1000 + i),
                                          .ppid = 1,
                                          .start_time = 7,
                                          .start_stack = 0x7ffc00000000 + i / family_size * 0x1230,
                                          .minflt = 5000,
                                          .size_pages = 100000,
                                          .resident_pages = 20000 + i * 7 % 1000,
                                          .shared_pages = 1500};
    snprintf(process->comm, sizeof(process->comm), "worker-%u", i / 50);
}

static void run_tick(trk_mem_model *model, struct trk_mem_scheduler *scheduler,
                     const struct trk_mem_tick_proc *processes, uint32_t count, uint32_t tick)
{
    trk__mem_tick_begin(model);
    for (uint32_t i = 0; i < count; i++)
        trk__mem_tick_process(model, &processes[i]);
    trk__mem_tick_end(model, NULL);
    trk__mem_scheduler_tick(scheduler, tick * 1000000000ull);
    struct trk_mem_choice choice;
    if (trk__mem_scheduler_next(scheduler, model, &choice)) /* a reader that never gets an answer */
        trk__mem_scheduler_spend(scheduler, &choice, 1000000, 0);
    struct trk_mem_total total;
    trk__mem_model_total(model, &total);
}

static void measure(const struct shape *shape, uint32_t count, uint32_t ticks, int counter)
{
    trk_mem_model *model;
    struct trk_mem_tick_proc *processes = calloc(count, sizeof(*processes));
    if (!processes || trk__mem_model_new(NULL, &model) < 0)
        exit(1);
    struct trk_mem_scheduler scheduler;
    trk__mem_scheduler_init(&scheduler, NULL);
    for (uint32_t i = 0; i < count; i++)
        start(&processes[i], i, shape->family_size);
    run_tick(model, &scheduler, processes, count, 0);
    uint64_t instructions = 0, ns = 0;
    for (uint32_t tick = 1; tick <= ticks; tick++) {
        for (uint32_t i = 0; i < count; i++)
            shape->change(&processes[i], tick);
        uint64_t before = counter_read(counter), before_ns = now_ns();
        run_tick(model, &scheduler, processes, count, tick);
        instructions += counter_read(counter) - before;
        ns += now_ns() - before_ns;
    }
    double each = (double)count * ticks;
    printf("%-28s %7.1f instructions and %6.1f ns a process\n", shape->name,
           (double)instructions / each, (double)ns / each);
    trk__mem_model_free(model);
    free(processes);
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
    uint32_t ticks = argc > 2 ? (uint32_t)atoi(argv[2]) : 200;
    int counter = counter_open();
    if (counter < 0)
        fprintf(stderr, "no instruction counter here: 0 instructions means not counted\n");
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        measure(&shapes[i], count, ticks, counter);
    return 0;
}
