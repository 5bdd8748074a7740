#include "gputracker/usage_meter.h"

#include "base/real.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A tracking file says at its start how many GPUs there are, so it waits for the driver. */
static const int64_t GPU_WAIT_NS = INT64_C(3000000000);

/* Less than a nanosecond a second is what the division leaves. */
static const double ROUNDING_CORES = 1e-9;

/* ---- busy units ---- */

static void busy_add(struct trk_busy *busy, double units, double seconds, bool is_whole)
{
    if (isnan(units) || !(seconds > 0))
        return;
    /* The end of a job makes a short row, and the kernel's ticks are coarse in it: it counts for the mean, and for the
     * maximum only while there is nothing better. */
    bool is_first_whole = is_whole && (busy->max_is_of_short || !(busy->seconds > 0));
    bool counts = is_whole || busy->max_is_of_short || !(busy->seconds > 0);
    if (is_first_whole || (counts && units > busy->max_units))
        busy->max_units = units;
    busy->max_is_of_short = !is_whole && (busy->max_is_of_short || !(busy->seconds > 0));
    busy->seconds += seconds;
    busy->unit_seconds += units * seconds;
}

static void busy_tell(const struct trk_busy *busy, uint32_t hardware,
                      struct trk_gpu_percentages *ret_percentages)
{
    double mean = busy->seconds > 0 ? busy->unit_seconds / busy->seconds : 0;
    double part = hardware ? 100.0 / hardware : 0;
    *ret_percentages = (struct trk_gpu_percentages){.max_sum = busy->max_units * 100,
                                                    .max_hardware = busy->max_units * part,
                                                    .mean_sum = mean * 100,
                                                    .mean_hardware = mean * part};
}

/* ---- a look ---- */

static void look_at_threads(struct trk_usage_meter *meter, const struct trk_process_table *table)
{
    uint64_t own = 0, others = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        if (trk__process_is_live(process))
            *(process->pid == table->root_pid ? &own : &others) += process->threads;
    }
    if (!own && !others) /* over: what was there last stands */
        return;
    struct trk_gpu_usage *usage = &meter->usage;
    meter->main_threads = (uint32_t)own;
    meter->descendants_threads = (uint32_t)others;
    if (own > usage->main_n_threads)
        usage->main_n_threads = (uint32_t)own;
    if (others > usage->descendants_n_threads)
        usage->descendants_n_threads = (uint32_t)others;
    if (own + others > usage->combined_n_threads)
        usage->combined_n_threads = (uint32_t)(own + others);
}

/* A job that runs already counts from now on; one that we started from its birth. */
static void look_at_main(struct trk_usage_meter *meter, const struct trk_account *account)
{
    uint32_t root = trk__process_find(&account->table, account->options.root_pid);
    if (root == TRK_NO_PROCESS || account->table.item[root].is_gone)
        return;
    uint64_t cpu_ns = account->process[root].usage.seen.own[TRK_USAGE_CPU_NS];
    if (!meter->main_seen && !meter->session->options.reap_children)
        meter->main_cpu_row_ns = cpu_ns;
    meter->main_seen = true;
    if (cpu_ns > meter->main_cpu_ns)
        meter->main_cpu_ns = cpu_ns;
}

static void raise(double *max, double value)
{
    if (value > *max)
        *max = value;
}

static void look_at_gpus(struct trk_usage_meter *meter, const struct trk_process_table *table)
{
    const struct trk_gpu *gpu = meter->session->gpu;
    uint64_t job;
    if (!gpu || !trk__gpu_job_memory(gpu, &job))
        return;
    uint64_t own = trk__gpu_root_memory(gpu, table);
    meter->gpu_job_bytes = job;
    meter->gpu_main_bytes = own < job ? own : job;
    raise(&meter->usage.gpu_ram_main_bytes, (double)meter->gpu_main_bytes);
    raise(&meter->usage.gpu_ram_descendants_bytes, (double)(job - meter->gpu_main_bytes));
    raise(&meter->usage.gpu_ram_combined_bytes, (double)job);
}

static void on_look(void *state, struct trk_session *session)
{
    struct trk_usage_meter *meter = state;
    const struct trk_gather *gather = &session->gather;
    if (!gather->is_visible)
        return;
    look_at_main(meter, &gather->account);
    look_at_threads(meter, &gather->account.table);
    look_at_gpus(meter, &gather->account.table);
    trk__ram_watch_look(&meter->ram, gather, meter->file || meter->is_last);
}

/* ---- a row ---- */

struct moment {
    double cpu_system, cpu_main, cpu_descendants, cpu_combined; /* cores; NaN: not known */
    struct trk_gpu_tally machine, chosen;
};

static void take_cpu(struct trk_usage_meter *meter, const struct trk_session *session,
                     struct moment *moment)
{
    const struct trk_row *row = &session->row;
    int64_t before_ns = meter->row_looked_ns ? meter->row_looked_ns : session->start_ns;
    double elapsed_ns = (double)(session->gather.account.scanned_ns - before_ns);
    uint64_t used_ns = meter->main_cpu_ns > meter->main_cpu_row_ns
                           ? meter->main_cpu_ns - meter->main_cpu_row_ns
                           : 0;
    moment->cpu_system = row->value[TRK_M_SYS_CPU];
    double own = elapsed_ns > 0 ? (double)used_ns / elapsed_ns : NAN;
    double whole = row->value[TRK_M_PROC_CPU]; /* what exited processes used is in it */
    moment->cpu_combined = isnan(whole) ? own : whole;
    moment->cpu_main = trk__fmin(own, moment->cpu_combined);
    double rest = moment->cpu_combined - moment->cpu_main;
    moment->cpu_descendants = rest < ROUNDING_CORES ? 0 : rest;
    if (elapsed_ns > 0) {
        meter->row_looked_ns = session->gather.account.scanned_ns;
        meter->main_cpu_row_ns = meter->main_cpu_ns;
    }
}

static void add_busy(struct trk_usage_meter *meter, const struct trk_session *session,
                     const struct moment *moment)
{
    double seconds = session->row.elapsed_seconds;
    bool is_whole = seconds * 2 >= session->options.interval_seconds;
    busy_add(&meter->cpu_system, moment->cpu_system, seconds, is_whole);
    busy_add(&meter->cpu_main, moment->cpu_main, seconds, is_whole);
    busy_add(&meter->cpu_descendants, moment->cpu_descendants, seconds, is_whole);
    busy_add(&meter->cpu_combined, moment->cpu_combined, seconds, is_whole);
    /* Drivers average by themselves: a short row is as good as a whole one. */
    if (moment->chosen.devices)
        busy_add(&meter->gpu, moment->chosen.utilization_devices, seconds, true);
}

static void count_gpus(struct trk_gpu_usage *usage, const struct moment *moment)
{
    usage->system_gpu_count = moment->machine.devices;
    usage->n_expected_gpus = moment->chosen.devices;
    usage->gpu_ram_capacity_bytes = (double)moment->machine.memory_total_bytes;
}

static double zero_if_unknown(double value)
{
    return isnan(value) ? 0 : value;
}

static double ram_of(const struct trk_usage_meter *meter, enum trk_ram_group group)
{
    return (double)trk__ram_watch_total(&meter->ram, group) * meter->scale.ram;
}

static void write_row(struct trk_usage_meter *meter, const struct trk_session *session,
                      const struct moment *moment)
{
    const struct trk_gpu_usage *usage = &meter->usage;
    double core = 100.0 / (usage->n_expected_cores ? usage->n_expected_cores : 1);
    double gpu = usage->n_expected_gpus ? 100.0 / usage->n_expected_gpus : 0;
    uint64_t gpu_others = meter->gpu_job_bytes - meter->gpu_main_bytes;
    struct trk_tracking_row row = {
        .main_ram = ram_of(meter, TRK_RAM_MAIN),
        .descendants_ram = ram_of(meter, TRK_RAM_DESCENDANTS),
        .combined_ram = ram_of(meter, TRK_RAM_COMBINED),
        .system_ram = session->row.value[TRK_M_SYS_MEM_USED] * meter->scale.ram,
        .main_gpu_ram = (double)meter->gpu_main_bytes * meter->scale.gpu_ram,
        .descendants_gpu_ram = (double)gpu_others * meter->scale.gpu_ram,
        .combined_gpu_ram = (double)meter->gpu_job_bytes * meter->scale.gpu_ram,
        .system_gpu_ram = (double)moment->machine.memory_used_bytes * meter->scale.gpu_ram,
        .gpu_sum_percent = moment->chosen.utilization_devices * 100,
        .gpu_hardware_percent = moment->chosen.utilization_devices * gpu,
        .main_n_threads = meter->main_threads,
        .descendants_n_threads = meter->descendants_threads,
        .combined_n_threads = (double)meter->main_threads + meter->descendants_threads,
        .cpu_system_sum_percent = zero_if_unknown(moment->cpu_system) * 100,
        .cpu_system_hardware_percent =
            zero_if_unknown(moment->cpu_system) * 100 / usage->system_core_count,
        .cpu_main_sum_percent = zero_if_unknown(moment->cpu_main) * 100,
        .cpu_main_hardware_percent = zero_if_unknown(moment->cpu_main) * core,
        .cpu_descendants_sum_percent = zero_if_unknown(moment->cpu_descendants) * 100,
        .cpu_descendants_hardware_percent = zero_if_unknown(moment->cpu_descendants) * core,
        .cpu_combined_sum_percent = zero_if_unknown(moment->cpu_combined) * 100,
        .cpu_combined_hardware_percent = zero_if_unknown(moment->cpu_combined) * core,
        .timestamp = session->row.value[TRK_M_TIMESTAMP],
    };
    int code = trk__tracking_file_row(meter->file, &row, &meter->file_error);
    if (code < 0 && !meter->file_failure)
        meter->file_failure = code;
}

static void tally_gpus(const struct trk_usage_meter *meter, struct moment *moment)
{
    if (!meter->session->gpu)
        return;
    trk__gpu_tally(meter->session->gpu, NULL, &moment->machine);
    trk__gpu_tally(meter->session->gpu, meter->gpu_uuids, &moment->chosen);
}

/* The kernel's high-water mark can't stand in: it has what the process was before it became the command, and does not
 * tell private from shared. */
static void tell_unread(struct trk_usage_meter *meter)
{
    if (!meter->ram.max[TRK_RAM_COMBINED].total_bytes)
        trk__session_add_note(meter->session,
                              "the command ended before its memory could be read: its RAM is not "
                              "known, and told as 0.0");
}

static void on_row(void *state, const struct trk_session *session)
{
    struct trk_usage_meter *meter = state;
    struct moment moment = {0};
    take_cpu(meter, session, &moment);
    tally_gpus(meter, &moment);
    if (moment.machine.devices)
        count_gpus(&meter->usage, &moment);
    raise(&meter->usage.gpu_ram_system_bytes, (double)moment.machine.memory_used_bytes);
    raise(&meter->usage.ram_system_bytes, session->row.value[TRK_M_SYS_MEM_USED]);
    raise(&meter->usage.ram_capacity_bytes, session->row.value[TRK_M_SYS_MEM_TOTAL]);
    add_busy(meter, session, &moment);
    if (meter->file)
        write_row(meter, session, &moment);
    if (session->finished)
        tell_unread(meter);
    if (meter->on_change) {
        struct trk_gpu_usage usage;
        trk__usage_meter_read(meter, &usage);
        meter->on_change(meter->state, &usage);
    }
}

/* ---- life ---- */

void trk__usage_meter_init(struct trk_usage_meter *meter, struct trk_session *session,
                           const struct trk_gpu_tracker_options *options)
{
    uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    *meter = (struct trk_usage_meter){
        .session = session, .form = options->form, .gpu_uuids = options->gpu_uuids};
    meter->usage = (struct trk_gpu_usage){
        .size = sizeof meter->usage,
        .ram_capacity_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
        .system_core_count = cores,
        .n_expected_cores = options->n_expected_cores ? options->n_expected_cores : cores,
    };
    trk__usage_scale(&meter->form, &meter->scale, NULL);
    trk__ram_watch_init(&meter->ram, session->options.memory_budget_ratio);
    session->gather.options.without_io = true;
    session->observer =
        (struct trk_session_observer){.on_look = on_look, .on_row = on_row, .state = meter};
}

void trk__usage_meter_done(struct trk_usage_meter *meter)
{
    trk__ram_watch_done(&meter->ram);
    trk__data_writer_close(meter->file, NULL);
    meter->file = NULL;
}

int trk__usage_meter_prepare(struct trk_usage_meter *meter, bool overwrite, const char *path,
                             struct trk_error *error)
{
    struct moment moment = {0};
    int code = 0;
    if (!path && !meter->gpu_uuids)
        return 0;
    if (trk__session_open_gpus(meter->session) < 0)
        return -ENOMEM;
    if (trk__gpu_await(meter->session->gpu, GPU_WAIT_NS))
        code = trk__gpu_check_names(meter->session->gpu, meter->gpu_uuids, error);
    tally_gpus(meter, &moment);
    count_gpus(&meter->usage, &moment);
    if (code == 0 && path)
        code = trk__tracking_file_new(path, overwrite, &meter->form, &meter->usage, &meter->file,
                                      error);
    return code;
}

void trk__usage_meter_begin(struct trk_usage_meter *meter)
{
    on_look(meter, meter->session);
}

static void tell_ram(const struct trk_ram_max *max, struct trk_gpu_rss *ret_rss)
{
    *ret_rss = (struct trk_gpu_rss){.total_bytes = (double)max->total_bytes,
                                    .private_bytes = (double)max->private_bytes,
                                    .shared_bytes = (double)max->shared_bytes};
}

void trk__usage_meter_read(struct trk_usage_meter *meter, struct trk_gpu_usage *ret_usage)
{
    struct trk_gpu_usage *usage = &meter->usage;
    const struct trk_session *session = meter->session;
    tell_ram(&meter->ram.max[TRK_RAM_MAIN], &usage->ram_main);
    tell_ram(&meter->ram.max[TRK_RAM_DESCENDANTS], &usage->ram_descendants);
    tell_ram(&meter->ram.max[TRK_RAM_COMBINED], &usage->ram_combined);
    busy_tell(&meter->cpu_system, usage->system_core_count, &usage->cpu_system);
    busy_tell(&meter->cpu_main, usage->n_expected_cores, &usage->cpu_main);
    busy_tell(&meter->cpu_descendants, usage->n_expected_cores, &usage->cpu_descendants);
    busy_tell(&meter->cpu_combined, usage->n_expected_cores, &usage->cpu_combined);
    busy_tell(&meter->gpu, usage->n_expected_gpus, &usage->gpu);
    int64_t end_ns =
        session->finished ? session->last_tick_ns : trk__context_monotonic_ns(&session->context);
    usage->compute_seconds = session->started ? (double)(end_ns - session->start_ns) * 1e-9 : 0;
    *ret_usage = *usage;
}
