#include "trace_replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_MAX_BYTES = 1024, TRACE_PAGE_KB = 4 };

static int grow(void *pointer_to_array, size_t *capacity, size_t count, size_t item_size)
{
    if (count < *capacity)
        return 0;
    size_t larger = *capacity ? *capacity * 2 : 256;
    void **array = pointer_to_array;
    void *moved = reallocarray(*array, larger, item_size);
    if (!moved)
        return -ENOMEM;
    *array = moved;
    *capacity = larger;
    return 0;
}

static int add_tick(struct trace *trace, const char *line)
{
    int r = grow(&trace->ticks, &trace->tick_capacity, trace->tick_count, sizeof(*trace->ticks));
    if (r < 0)
        return r;
    struct trace_tick tick = {.first_process = trace->process_count};
    if (sscanf(line, "T %*u %lf %*u %lf %lf %lf", &tick.seconds, &tick.cgroup.anon_kb,
               &tick.cgroup.mapped_file_kb, &tick.cgroup.shmem_kb) != 4)
        return -EBADMSG;
    trace->ticks[trace->tick_count++] = tick;
    return 0;
}

static int add_process(struct trace *trace, const char *line)
{
    int r = grow(&trace->processes, &trace->process_capacity, trace->process_count,
                 sizeof(*trace->processes));
    if (r < 0 || trace->tick_count == 0)
        return r < 0 ? r : -EBADMSG;
    struct trace_process process = {0};
    struct trk_mem_tick_proc *cheap = &process.cheap;
    struct trk_mem_truth *truth = &process.truth;
    unsigned long start_time, start_stack, minflt, size_kb, resident_kb, shared_kb, rollup_ns;
    double shmem_kb;
    int fields = sscanf(line,
                        "P %*u %d %d %lu %lx %15s %*u %lu %*u %*u %lu %lu %lu %*u %*u %lf %*u"
                        " %lf %lf %lf %lf %lf %lf %*u %*u %*u %*u %*u %*u %lu",
                        &cheap->pid, &cheap->ppid, &start_time, &start_stack, cheap->comm, &minflt,
                        &size_kb, &resident_kb, &shared_kb, &shmem_kb, &truth->pss_kb,
                        &truth->pss_anon_kb, &truth->pss_file_kb, &truth->pss_shmem_kb,
                        &truth->private_clean_kb, &truth->private_dirty_kb, &rollup_ns);
    if (fields != 17)
        return -EBADMSG;
    cheap->start_time = start_time;
    cheap->start_stack = start_stack;
    cheap->minflt = minflt;
    cheap->size_pages = size_kb / TRACE_PAGE_KB;
    cheap->resident_pages = resident_kb / TRACE_PAGE_KB;
    cheap->shared_pages = shared_kb / TRACE_PAGE_KB;
    process.rollup_ns = rollup_ns;
    process.sample.rss_shmem_kb = shmem_kb;
    trace->processes[trace->process_count++] = process;
    trace->ticks[trace->tick_count - 1].process_count++;
    return 0;
}

static int add_sample(struct trace *trace, const char *line)
{
    if (trace->process_count == 0)
        return -EBADMSG;
    struct trace_process *process = &trace->processes[trace->process_count - 1];
    struct trk_mem_stratum *a = &process->sample.anon, *f = &process->sample.file,
                           *s = &process->sample.shmem;
    unsigned long sample_ns, stall_ns;
    int fields = sscanf(line, "S %*u %*d %u %u %lf %u %u %u %lf %u %lu %*u %lu %*u %u %u %lf %u",
                        &a->present, &a->exclusive, &a->mean_share, &a->looked_up, &f->present,
                        &f->exclusive, &f->mean_share, &f->looked_up, &sample_ns, &stall_ns,
                        &s->present, &s->exclusive, &s->mean_share, &s->looked_up);
    if (fields != 14)
        return -EBADMSG;
    process->has_sample = true;
    process->sample_ns = sample_ns;
    process->sample_stall_ns = stall_ns;
    return 0;
}

/* A vfork child: all that was read of it is its parent's to the last kB. */
static bool is_twin(const struct trace_process *child, const struct trace_process *parent)
{
    const struct trk_mem_tick_proc *c = &child->cheap, *p = &parent->cheap;
    return c->ppid == p->pid && c->start_stack == p->start_stack &&
           c->size_pages == p->size_pages && c->resident_pages == p->resident_pages &&
           c->shared_pages == p->shared_pages && child->truth.pss_kb == parent->truth.pss_kb &&
           child->truth.private_dirty_kb == parent->truth.private_dirty_kb;
}

static void sum_truth(struct trace *trace)
{
    for (size_t t = 0; t < trace->tick_count; t++) {
        struct trace_tick *tick = &trace->ticks[t];
        const struct trace_process *all = &trace->processes[tick->first_process];
        for (size_t i = 0; i < tick->process_count; i++) {
            bool twin = false;
            for (size_t j = 0; j < tick->process_count && !twin; j++)
                twin = j != i && is_twin(&all[i], &all[j]);
            if (!twin)
                tick->pss_kb += all[i].truth.pss_kb;
        }
    }
}

static int load_lines(gzFile file, struct trace *trace)
{
    char line[LINE_MAX_BYTES];
    while (gzgets(file, line, sizeof(line))) {
        int r = line[0] == 'T'   ? add_tick(trace, line)
                : line[0] == 'P' ? add_process(trace, line)
                : line[0] == 'S' ? add_sample(trace, line)
                                 : 0;
        if (r < 0)
            return r;
    }
    return gzeof(file) ? 0 : -EIO;
}

int trace_load(const char *path, struct trace *ret_trace)
{
    gzFile file = gzopen(path, "rbe");
    if (!file)
        return -errno;
    struct trace trace = {0};
    int r = load_lines(file, &trace);
    gzclose(file);
    if (r < 0) {
        trace_done(&trace);
        return r;
    }
    sum_truth(&trace);
    *ret_trace = trace;
    return 0;
}

void trace_done(struct trace *trace)
{
    free(trace->ticks);
    free(trace->processes);
    *trace = (struct trace){0};
}
