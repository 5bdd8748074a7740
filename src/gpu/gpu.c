#include "gpu/gpu.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "gpu/gpu_select.h"
#include "gpu/gpu_worker.h"
#include "platform/os.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

/* Drivers average over a sixth of a second or more: asked more often they only cost. Intel's figures are in the
 * descriptors of every process. A little less than round, so that a tick that comes early is not skipped. */
static const int64_t PERIOD_MIN_NS = 90000000;
static const int64_t PERIOD_INTEL_MIN_NS = 900000000;
static const int64_t CLOCK_DOUBT_NS = INT64_C(600) * 1000000000;
static const uint64_t WHOLE = 1000000; /* millionths */

/* What the job does on one device. */
struct share {
    bool exclusive;      /* the device does nothing but the job's work */
    bool memory_unknown; /* some process of the job is there, and how much it holds is not known */
    bool busy_unknown;
    uint32_t users;  /* processes of the job that use it ... */
    uint32_t others; /* ... and others */
    uint64_t memory_bytes;
    uint64_t busy_millionths;
};

/* Over several devices. */
struct sums {
    bool busy_unknown, memory_unknown;
    uint64_t busy_millionths, memory_bytes, active;
};

struct trk_gpu {
    const struct trk_context *context;
    unsigned vendors; /* TRK_GPU_NONE: there is no GPU, and nothing below is used */
    char *wanted;
    struct trk_gpu_worker *worker;
    bool worker_failed;
    int64_t asked_ns;
    int64_t first_asked_ns; /* 0: not yet */
    const struct trk_gpu_reading *reading;
    pid_t *member; /* kept for its memory */
    uint32_t member_capacity;
    struct share *share; /* one a device of the reading */
    uint32_t share_capacity;
    struct sums job_seen; /* the job's part when it was last alive ... */
    int64_t job_seen_ns;  /* ... and when that was; 0: never */
    char news[TRK_GPU_REASON_SIZE];
    char told[TRK_GPU_REASON_SIZE];
};

int trk__gpu_open(const struct trk_context *context, const char *wanted, struct trk_gpu **ret_gpu)
{
    TRK_CLEANUP_FREE struct trk_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return -ENOMEM;
    gpu->context = context;
    gpu->vendors = trk__gpu_vendors_here(context);
    if (gpu->vendors && wanted && !(gpu->wanted = strdup(wanted)))
        return -ENOMEM;
    *ret_gpu = TRK_STEAL(gpu);
    return 0;
}

void trk__gpu_close(struct trk_gpu *gpu)
{
    if (!gpu)
        return;
    trk__gpu_worker_close(gpu->worker);
    free(gpu->member);
    free(gpu->share);
    free(gpu->wanted);
    free(gpu);
}

bool trk__gpu_may_be_here(const struct trk_gpu *gpu)
{
    return gpu && gpu->vendors;
}

/* ---- asking ---- */

static uint32_t list_members(struct trk_gpu *gpu, const struct trk_process_table *table)
{
    uint32_t count = 0;
    if (!table)
        return 0;
    if (table->count > gpu->member_capacity) {
        pid_t *member = realloc(gpu->member, table->count * sizeof *member);
        if (!member)
            return 0;
        gpu->member = member;
        gpu->member_capacity = table->count;
    }
    for (uint32_t i = 0; i < table->count; i++)
        if (!table->item[table->order[i]].is_gone)
            gpu->member[count++] = table->item[table->order[i]].pid;
    return count;
}

static bool has_worker(struct trk_gpu *gpu)
{
    if (!gpu->worker && !gpu->worker_failed)
        gpu->worker_failed = trk__gpu_worker_open(gpu->context, gpu->vendors, &gpu->worker) < 0;
    return gpu->worker != NULL;
}

void trk__gpu_ask(struct trk_gpu *gpu, const struct trk_process_table *table)
{
    if (!gpu->vendors || !has_worker(gpu))
        return;
    struct trk_gpu_instant now = {
        .monotonic_ns = trk__context_monotonic_ns(gpu->context),
        .boot_ns = trk__os_boot_clock_ns(),
        .realtime_ns = trk__context_realtime_ns(gpu->context),
    };
    int64_t period_ns = gpu->vendors & TRK_GPU_INTEL ? PERIOD_INTEL_MIN_NS : PERIOD_MIN_NS;
    if (gpu->asked_ns && now.monotonic_ns - gpu->asked_ns < period_ns)
        return;
    gpu->asked_ns = now.monotonic_ns;
    if (!gpu->first_asked_ns)
        gpu->first_asked_ns = now.monotonic_ns;
    uint32_t count = list_members(gpu, table);
    trk__gpu_worker_ask(gpu->worker, &now, gpu->member, count);
}

/* ---- the job's part ---- */

/* A process is (pid, start time). The driver tells pids alone, so one that was born after the driver was asked
 * is another. Start times are cut to ticks, which never makes them later. */
static bool was_there(const struct trk_gpu *gpu, const struct trk_process *process, int64_t boot_ns)
{
    int64_t tick_ns = 1000000000 / gpu->context->ticks_per_second;
    return !boot_ns || (int64_t)process->start_ticks * tick_ns <= boot_ns;
}

static const struct trk_process *find_process(const struct trk_process_table *table, pid_t pid)
{
    uint32_t index = trk__process_find(table, pid);
    return index == TRK_NO_PROCESS || table->item[index].is_gone ? NULL : &table->item[index];
}

/* 0, not known, also where the driver's clock is not the one we know. */
static int64_t boot_time_of_share(const struct trk_gpu_instant *instant,
                                  const struct trk_gpu_process *process)
{
    int64_t age_ns = instant->realtime_ns - process->share_realtime_ns;
    bool plausible = age_ns > -CLOCK_DOUBT_NS && age_ns < CLOCK_DOUBT_NS;
    return process->share_realtime_ns && plausible ? instant->boot_ns - age_ns : 0;
}

/* Where the job is over, who it was when the driver was asked has to do. */
static bool is_jobs(const struct trk_gpu *gpu, const struct trk_gpu_look *look,
                    const struct trk_gpu_process *process, bool *ret_share_is_its)
{
    *ret_share_is_its = true;
    if (look->job_is_over)
        return process->was_member;
    const struct trk_gpu_instant *instant = &gpu->reading->instant;
    const struct trk_process *found = find_process(look->table, process->pid);
    if (!found || !was_there(gpu, found, instant->boot_ns))
        return false;
    /* The number may have been another's when the share was measured. */
    *ret_share_is_its = was_there(gpu, found, boot_time_of_share(instant, process));
    return true;
}

static void add_process(const struct trk_gpu *gpu, const struct trk_gpu_look *look,
                        const struct trk_gpu_process *process, struct share *share)
{
    const struct trk_gpu_reading *reading = gpu->reading;
    bool share_is_its;
    if (!is_jobs(gpu, look, process, &share_is_its)) {
        share->others += process->listed;
        return;
    }
    share->users += process->listed;
    if (process->memory_known)
        share->memory_bytes += process->memory_bytes;
    else
        share->memory_unknown = true;
    if (process->share_known && !process->share_hidden)
        share->busy_millionths += share_is_its ? process->share_millionths : 0;
    else /* where the driver tells shares it leaves out the idle */
        share->busy_unknown |=
            process->share_hidden || !reading->device[process->device].shares_known;
}

/* Where the driver does not tell who keeps the device busy, and nobody else uses it, the job does. */
static void give_if_alone(const struct trk_gpu_device *device, struct share *share)
{
    if (!share->busy_unknown || !share->users || share->others || !device->users_complete ||
        !trk__gpu_has(device, TRK_GPU_SLOT(UTILIZATION)))
        return;
    share->busy_unknown = false;
    share->busy_millionths = device->raw[TRK_GPU_SLOT(UTILIZATION)];
    share->exclusive = true;
}

static uint32_t count_users(const struct trk_gpu_reading *reading, uint32_t index)
{
    uint32_t users = 0;
    for (uint32_t i = 0; i < reading->process_count; i++)
        users += reading->process[i].device == index && reading->process[i].listed;
    return users;
}

/* Every process that the driver sees there is one of the job's. Where some process here can't be looked into, the job
 * must be told to use the device, and hold it as often as the driver counts. */
static bool is_exclusive(const struct trk_gpu_reading *reading, uint32_t index)
{
    const struct trk_gpu_device *device = &reading->device[index];
    if (!device->holders_of_job || device->holders_outside || !device->processes_known)
        return false;
    uint32_t users = count_users(reading, index);
    if (device->holders_known)
        return users <= device->holders_of_job;
    return device->named_for_job && users == device->holders_of_job;
}

static void take_whole(const struct trk_gpu_device *device, struct share *share)
{
    *share = (struct share){.exclusive = true};
    share->memory_unknown = !trk__gpu_has(device, TRK_GPU_SLOT(MEMORY_USED));
    share->busy_unknown = !trk__gpu_has(device, TRK_GPU_SLOT(UTILIZATION));
    share->memory_bytes = device->raw[TRK_GPU_SLOT(MEMORY_USED)];
    share->busy_millionths = device->raw[TRK_GPU_SLOT(UTILIZATION)];
}

static void explain_foreign(struct trk_gpu *gpu, const struct trk_gpu_device *device)
{
    snprintf(gpu->news, sizeof gpu->news,
             "GPU %s: the driver names processes of another PID namespace; the job's part is not "
             "known",
             device->name);
}

static void judge_foreign(struct trk_gpu *gpu, uint32_t index)
{
    const struct trk_gpu_device *device = &gpu->reading->device[index];
    struct share *share = &gpu->share[index];
    if (is_exclusive(gpu->reading, index)) {
        take_whole(device, share);
        return;
    }
    if (device->out_of_reach || (device->holders_known && !device->holders_of_job))
        return; /* the job has nothing to do with it */
    share->memory_unknown = share->busy_unknown = true;
    explain_foreign(gpu, device);
}

/* The newest reading; nothing is known yet of the job's part in it. */
static bool take_reading(struct trk_gpu *gpu, const struct trk_gpu_reading *reading)
{
    if (reading->device_count > gpu->share_capacity) {
        struct share *share = realloc(gpu->share, reading->device_count * sizeof *share);
        if (!share)
            return false;
        gpu->share = share;
        gpu->share_capacity = reading->device_count;
    }
    if (reading->device_count)
        memset(gpu->share, 0, reading->device_count * sizeof *gpu->share);
    gpu->reading = reading;
    return true;
}

/* The job's part of each device in gpu->share. */
static void share_out(struct trk_gpu *gpu, const struct trk_gpu_look *look)
{
    const struct trk_gpu_reading *reading = gpu->reading;
    for (uint32_t i = 0; i < reading->device_count; i++) {
        const struct trk_gpu_device *device = &reading->device[i];
        bool unknown = !device->processes_known && !device->lost;
        gpu->share[i] = (struct share){.memory_unknown = unknown, .busy_unknown = unknown};
    }
    if (!look->table)
        return;
    for (uint32_t i = 0; i < reading->process_count; i++) {
        const struct trk_gpu_process *process = &reading->process[i];
        if (!reading->device[process->device].pids_are_foreign)
            add_process(gpu, look, process, &gpu->share[process->device]);
    }
    for (uint32_t i = 0; i < reading->device_count; i++) {
        if (reading->device[i].pids_are_foreign && !reading->device[i].lost)
            judge_foreign(gpu, i);
        else
            give_if_alone(&reading->device[i], &gpu->share[i]);
        if (gpu->share[i].busy_millionths > WHOLE)
            gpu->share[i].busy_millionths = WHOLE;
    }
}

/* ---- sums ---- */

static void add_to_sums(struct sums *sums, bool busy_known, uint64_t busy, bool memory_known,
                        uint64_t memory)
{
    sums->busy_unknown |= !busy_known;
    sums->memory_unknown |= !memory_known;
    sums->busy_millionths += busy_known ? busy : 0;
    sums->memory_bytes += memory_known ? memory : 0;
    sums->active += busy_known && busy > 0;
}

static void set_sums(struct trk_sample *sample, const struct sums *sums, enum trk_metric busy,
                     enum trk_metric memory, enum trk_metric active)
{
    if (!sums->busy_unknown) {
        trk__sample_set(sample, busy, sums->busy_millionths);
        trk__sample_set(sample, active, sums->active);
    }
    if (!sums->memory_unknown)
        trk__sample_set(sample, memory, sums->memory_bytes);
}

static void set_machine(struct trk_sample *sample, const struct sums *sums)
{
    set_sums(sample, sums, TRK_M_SYS_GPU_USAGE, TRK_M_SYS_GPU_VRAM, TRK_M_SYS_GPU_UTILIZED);
}

static void set_job(struct trk_sample *sample, const struct sums *sums)
{
    set_sums(sample, sums, TRK_M_PROC_GPU_USAGE, TRK_M_PROC_GPU_VRAM, TRK_M_PROC_GPU_UTILIZED);
}

/* ---- the sample ---- */

static bool is_of_interval(const struct trk_gpu *gpu, const struct trk_gpu_look *look)
{
    return gpu->reading->instant.monotonic_ns > look->since_ns;
}

static void fill_device(const struct trk_gpu *gpu, uint32_t index, int64_t age_ns, bool has_job,
                        struct trk_device *target)
{
    const struct trk_gpu_device *device = &gpu->reading->device[index];
    const struct share *share = &gpu->share[index];
    target->valid = device->valid;
    memcpy(target->raw, device->raw, sizeof device->raw);
    trk__device_set(target, TRK_GPU_SLOT(AGE), age_ns > 0 ? (uint64_t)age_ns : 0);
    if (!has_job || !device->counted || device->lost)
        return;
    if (!share->busy_unknown)
        trk__device_set(target, TRK_GPU_SLOT(JOB_UTILIZATION), share->busy_millionths);
    if (!share->memory_unknown)
        trk__device_set(target, TRK_GPU_SLOT(JOB_MEMORY), share->memory_bytes);
}

/* A job that is over holds nothing, and zero would be a lie about the interval: what was last seen in it
 * stands. */
static void fill_job(struct trk_gpu *gpu, const struct trk_gpu_look *look, const struct sums *job,
                     struct trk_sample *sample)
{
    if (!look->job_is_over || is_of_interval(gpu, look)) {
        gpu->job_seen = *job;
        gpu->job_seen_ns = trk__context_monotonic_ns(gpu->context);
    }
    if (gpu->job_seen_ns > look->since_ns || !look->job_is_over)
        set_job(sample, &gpu->job_seen);
}

static void fill_devices(struct trk_gpu *gpu, const struct trk_gpu_look *look, int64_t age_ns,
                         struct trk_sample *sample)
{
    const struct trk_gpu_reading *reading = gpu->reading;
    bool has_job = look->table && (!look->job_is_over || is_of_interval(gpu, look));
    struct sums machine = {0}, job = {0};
    uint32_t shown = 0;
    for (uint32_t i = 0; i < reading->device_count; i++) {
        const struct trk_gpu_device *device = &reading->device[i];
        const struct share *share = &gpu->share[i];
        if (!trk__gpu_is_wanted(gpu->wanted, i, device))
            continue;
        struct trk_device *target =
            trk__sample_device(sample, TRK_SCOPE_GPU, device->name, shown++);
        if (target)
            fill_device(gpu, i, age_ns, has_job, target);
        if (!device->counted || device->lost)
            continue;
        add_to_sums(&machine, trk__gpu_has(device, TRK_GPU_SLOT(UTILIZATION)),
                    device->raw[TRK_GPU_SLOT(UTILIZATION)],
                    trk__gpu_has(device, TRK_GPU_SLOT(MEMORY_USED)),
                    device->raw[TRK_GPU_SLOT(MEMORY_USED)]);
        add_to_sums(&job, !share->busy_unknown, share->busy_millionths, !share->memory_unknown,
                    share->memory_bytes);
    }
    char unknown[TRK_GPU_WORD_SIZE];
    if (reading->device_count &&
        trk__gpu_find_unknown(gpu->wanted, reading->device, reading->device_count, unknown))
        snprintf(gpu->news, sizeof gpu->news,
                 "no GPU is called %s; there are 0 to %u, or give a uuid or a PCI address", unknown,
                 reading->device_count - 1);
    if (reading->incomplete)
        return;
    set_machine(sample, &machine);
    if (look->table)
        fill_job(gpu, look, &job, sample);
}

static void gather_news(struct trk_gpu *gpu)
{
    const struct trk_gpu_reading *reading = gpu->reading;
    gpu->news[0] = '\0';
    if (reading->reason[0])
        memcpy(gpu->news, reading->reason, sizeof gpu->news);
    for (uint32_t i = 0; i < reading->device_count && !gpu->news[0]; i++)
        if (reading->device[i].lost)
            snprintf(gpu->news, sizeof gpu->news, "GPU %s is lost: the driver can't reach it",
                     reading->device[i].name);
}

/* Columns are fixed with the first row, and a driver may take longer than that to be ready: its devices have
 * their places already. */
static void name_devices(const struct trk_gpu *gpu, struct trk_sample *sample)
{
    enum { NAMED_MAX = 64 };
    char name[NAMED_MAX][TRK_DEVICE_NAME_SIZE];
    uint32_t count = trk__gpu_list_nvidia(gpu->context, name, NAMED_MAX), shown = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct trk_gpu_device device = {.minor = TRK_GPU_NO_MINOR};
        memcpy(device.name, name[i], sizeof device.name);
        if (trk__gpu_is_wanted(gpu->wanted, i, &device))
            trk__sample_device(sample, TRK_SCOPE_GPU, name[i], shown++);
    }
}

void trk__gpu_fill(struct trk_gpu *gpu, const struct trk_gpu_look *look, struct trk_sample *sample)
{
    if (!gpu->vendors) {
        sample->read_ns[TRK_SOURCE_GPU] = trk__context_monotonic_ns(gpu->context);
        set_machine(sample, &(struct sums){0});
        set_job(sample, &(struct sums){0});
        return;
    }
    if (!gpu->worker) {
        if (gpu->worker_failed)
            snprintf(gpu->news, sizeof gpu->news, "GPUs can't be read: no thread can be started");
        return;
    }
    const struct trk_gpu_reading *reading = trk__gpu_worker_take(gpu->worker, look->wait_ns);
    int64_t since_ns = reading ? reading->instant.monotonic_ns : gpu->first_asked_ns;
    int64_t age_ns = trk__context_monotonic_ns(gpu->context) - since_ns;
    if (since_ns && age_ns > look->age_limit_ns)
        snprintf(gpu->news, sizeof gpu->news, "the GPU driver does not answer");
    if (!reading)
        name_devices(gpu, sample);
    if (!reading || !take_reading(gpu, reading))
        return;
    if (age_ns > look->age_limit_ns)
        return;
    gather_news(gpu);
    share_out(gpu, look);
    sample->read_ns[TRK_SOURCE_GPU] = reading->instant.monotonic_ns;
    fill_devices(gpu, look, age_ns, sample);
}

/* ---- before there is a job ---- */

bool trk__gpu_await(struct trk_gpu *gpu, int64_t wait_ns)
{
    if (!gpu->vendors)
        return true;
    gpu->asked_ns = 0;
    trk__gpu_ask(gpu, NULL);
    gpu->asked_ns = 0; /* the first look asks again, with the job's processes */
    const struct trk_gpu_reading *reading =
        gpu->worker ? trk__gpu_worker_take(gpu->worker, wait_ns) : NULL;
    return reading && take_reading(gpu, reading);
}

static int say_which_there_are(const struct trk_gpu_reading *reading, const char *name,
                               struct trk_error *error)
{
    char known[320] = "";
    size_t len = 0;
    for (uint32_t i = 0; reading && i < reading->device_count && len < sizeof known; i++) {
        const struct trk_gpu_device *device = &reading->device[i];
        len += (size_t)snprintf(known + len, sizeof known - len, "%s%u (%s)", i ? ", " : "", i,
                                *device->info.uuid ? device->info.uuid : device->name);
    }
    if (!*known)
        return trk__error_set(error, -ENODEV,
                              "no GPU is called %.80s: there is none here that can be read", name);
    return trk__error_set(error, -ENODEV, "no GPU is called %.80s; there are %s%s", name, known,
                          len >= sizeof known ? "..." : "");
}

int trk__gpu_check_names(const struct trk_gpu *gpu, const char *list, struct trk_error *error)
{
    const struct trk_gpu_reading *reading = gpu->vendors ? gpu->reading : NULL;
    char unknown[TRK_GPU_WORD_SIZE];
    if (list && *list && !list[strspn(list, ", ")])
        return trk__error_set(error, -EINVAL, "the list of GPUs, '%.80s', names none", list);
    if (reading && reading->incomplete)
        return 0; /* some GPU can't be read, and may be the one that is meant */
    if (!trk__gpu_find_unknown(list, reading ? reading->device : NULL,
                               reading ? reading->device_count : 0, unknown))
        return 0;
    return say_which_there_are(reading, unknown, error);
}

/* ---- sums for others ---- */

void trk__gpu_tally(const struct trk_gpu *gpu, const char *list, struct trk_gpu_tally *ret_tally)
{
    const struct trk_gpu_reading *reading = gpu->vendors ? gpu->reading : NULL;
    *ret_tally = (struct trk_gpu_tally){0};
    for (uint32_t i = 0; reading && i < reading->device_count; i++) {
        const struct trk_gpu_device *device = &reading->device[i];
        if (!device->counted || device->lost || !trk__gpu_is_wanted(gpu->wanted, i, device) ||
            !trk__gpu_is_wanted(list, i, device))
            continue;
        ret_tally->devices++;
        ret_tally->utilization_devices +=
            (double)device->raw[TRK_GPU_SLOT(UTILIZATION)] / (double)WHOLE;
        ret_tally->memory_used_bytes += device->raw[TRK_GPU_SLOT(MEMORY_USED)];
        ret_tally->memory_total_bytes += device->raw[TRK_GPU_SLOT(MEMORY_TOTAL)];
    }
}

bool trk__gpu_job_memory(const struct trk_gpu *gpu, uint64_t *ret_bytes)
{
    *ret_bytes = gpu->job_seen.memory_bytes;
    return gpu->vendors && gpu->job_seen_ns && !gpu->job_seen.memory_unknown;
}

/* Where the driver's pids are foreign a device that the root alone holds open is its own. */
static bool holds_alone(const struct trk_gpu *gpu, uint32_t index, pid_t root)
{
    const struct trk_gpu_device *device = &gpu->reading->device[index];
    return device->pids_are_foreign && gpu->share[index].exclusive && device->holders_of_job == 1 &&
           device->holder == root;
}

uint64_t trk__gpu_root_memory(const struct trk_gpu *gpu, const struct trk_process_table *table)
{
    const struct trk_gpu_reading *reading = gpu->vendors ? gpu->reading : NULL;
    const struct trk_process *root = find_process(table, table->root_pid);
    uint64_t bytes = 0;
    if (!reading || !root || !was_there(gpu, root, reading->instant.boot_ns))
        return 0;
    for (uint32_t i = 0; i < reading->device_count; i++)
        if (reading->device[i].counted && trk__gpu_is_wanted(gpu->wanted, i, &reading->device[i]) &&
            holds_alone(gpu, i, root->pid))
            bytes += gpu->share[i].memory_bytes;
    for (uint32_t i = 0; i < reading->process_count; i++) {
        const struct trk_gpu_process *process = &reading->process[i];
        const struct trk_gpu_device *device = &reading->device[process->device];
        if (process->pid == root->pid && process->memory_known && device->counted &&
            !device->lost && !device->pids_are_foreign &&
            trk__gpu_is_wanted(gpu->wanted, process->device, device))
            bytes += process->memory_bytes;
    }
    return bytes;
}

/* ---- for people ---- */

static void info_of(const struct trk_gpu *gpu, uint32_t index, struct trk_gpu_info *ret_info)
{
    const struct trk_gpu_device *device = &gpu->reading->device[index];
    *ret_info = device->info;
    ret_info->memory_bytes = trk__gpu_has(device, TRK_GPU_SLOT(MEMORY_TOTAL))
                                 ? (double)device->raw[TRK_GPU_SLOT(MEMORY_TOTAL)]
                                 : NAN;
    ret_info->is_exclusive = gpu->share[index].exclusive;
    ret_info->is_lost = device->lost;
}

int trk__gpu_info(const struct trk_gpu *gpu, uint32_t index, struct trk_gpu_info *ret_info)
{
    const struct trk_gpu_reading *reading = gpu->vendors ? gpu->reading : NULL;
    for (uint32_t i = 0; reading && i < reading->device_count; i++) {
        if (!trk__gpu_is_wanted(gpu->wanted, i, &reading->device[i]) || index-- > 0)
            continue;
        info_of(gpu, i, ret_info);
        return 0;
    }
    return -ERANGE;
}

int trk__gpu_info_called(const struct trk_gpu *gpu, const char *name, struct trk_gpu_info *ret_info)
{
    const struct trk_gpu_reading *reading = gpu && gpu->vendors ? gpu->reading : NULL;
    for (uint32_t i = 0; reading && i < reading->device_count; i++) {
        if (strcmp(reading->device[i].name, name) != 0)
            continue;
        info_of(gpu, i, ret_info);
        return 0;
    }
    return -ENOENT;
}

const char *trk__gpu_news(struct trk_gpu *gpu)
{
    if (!gpu->vendors || !gpu->news[0] || strcmp(gpu->news, gpu->told) == 0)
        return NULL;
    memcpy(gpu->told, gpu->news, sizeof gpu->told);
    return gpu->told;
}
