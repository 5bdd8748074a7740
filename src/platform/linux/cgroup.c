/* The cgroup that the tracker, and so the job that it starts, lives in: limits, use, throttling, OOM kills,
 * in both versions. https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/ */
#include "platform/platform.h"

#include "base/file.h"
#include "platform/collector.h"
#include "platform/linux/cgroup_place.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <stdlib.h>

/* Where the cgroup is, and its limits, change rarely; asking costs some opens a level. */
#define LOCATE_PERIOD_NS INT64_C(5000000000)

/* memory.stat costs as much as all other system files together, and inactive cache moves slowly. */
#define MEMORY_STAT_PERIOD_NS INT64_C(100000000)

enum { SMALL_FILE_SIZE = 1024, MEMORY_STAT_SIZE = 8192 };

enum file {
    FILE_CPU_USAGE,
    FILE_CPU_STAT,
    FILE_MEMORY_USAGE,
    FILE_MEMORY_STAT,
    FILE_OOM,
    FILE_COUNT
};

static const struct {
    enum trk_cgroup_controller controller;
    const char *name[TRK_CGROUP_V2 + 1]; /* by version */
} files[FILE_COUNT] = {
    [FILE_CPU_USAGE] = {TRK_CGROUP_CPUACCT, {NULL, "cpuacct.usage", NULL}},
    [FILE_CPU_STAT] = {TRK_CGROUP_CPU, {NULL, "cpu.stat", "cpu.stat"}},
    [FILE_MEMORY_USAGE] = {TRK_CGROUP_MEMORY, {NULL, "memory.usage_in_bytes", "memory.current"}},
    [FILE_MEMORY_STAT] = {TRK_CGROUP_MEMORY, {NULL, "memory.stat", "memory.stat"}},
    [FILE_OOM] = {TRK_CGROUP_MEMORY, {NULL, "memory.oom_control", "memory.events"}},
};

struct cgroup {
    const struct trk_context *context;
    struct trk_kept_file own;  /* /proc/self/cgroup */
    struct trk_buffer text;    /* its text now */
    struct trk_buffer located; /* its text when the places were found */
    struct trk_cgroup_places places;
    struct trk_kept_file file[FILE_COUNT];
    bool readable[FILE_COUNT]; /* tried anew at each locating */
    struct trk_limits limits;
    bool limits_known; /* since the last locating */
    int64_t locate_ns; /* next time; 0: never done */
    int64_t memory_stat_ns;
    uint64_t inactive_bytes;
    bool has_inactive;
};

static void close_files(struct cgroup *self)
{
    for (unsigned f = 0; f < FILE_COUNT; f++)
        trk__kept_file_close(&self->file[f]);
    trk__cgroup_places_close(&self->places);
}

static int cgroup_open(const struct trk_context *context, void **ret_self)
{
    struct cgroup *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    trk__kept_file_init(&self->own, context->proc_fd, "self/cgroup", TRK_FILE_ONE_RECORD);
    trk__buffer_init(&self->text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&self->located, TRK_BUFFER_LIMIT_DEFAULT);
    trk__cgroup_places_init(&self->places);
    for (unsigned f = 0; f < FILE_COUNT; f++)
        self->file[f].fd = -1;
    *ret_self = self;
    return 0;
}

static void cgroup_close(void *handle)
{
    struct cgroup *self = handle;
    if (!self)
        return;
    close_files(self);
    trk__kept_file_close(&self->own);
    trk__buffer_done(&self->text);
    trk__buffer_done(&self->located);
    free(self);
}

static void find_files(struct cgroup *self)
{
    for (unsigned f = 0; f < FILE_COUNT; f++) {
        const struct trk_cgroup_place *place = &self->places.of[files[f].controller];
        const char *name = place->exact ? files[f].name[place->version] : NULL;
        self->readable[f] = name;
        if (name && self->file[f].path != name)
            trk__kept_file_init(&self->file[f], place->dir_fd, name, TRK_FILE_ONE_RECORD);
        self->file[f].dir_fd = place->dir_fd;
    }
}

/* Finds the places again when the process was moved. */
static void locate(struct cgroup *self)
{
    bool first = self->locate_ns == 0;
    if (trk__kept_file_read(&self->own, &self->text) < 0) {
        close_files(self);
        trk__buffer_clear(&self->located);
        find_files(self);
        self->limits = (struct trk_limits){0};
        self->limits_known = true;
        return;
    }
    size_t len = self->text.len;
    bool moved = first || len != self->located.len ||
                 (len && memcmp(self->text.data, self->located.data, len) != 0);
    if (moved) {
        struct trk_buffer now = self->text;
        close_files(self);
        self->has_inactive = false;
        self->memory_stat_ns = 0;
        self->text = self->located;
        self->located = now;
        trk__cgroup_places_find(self->context, &self->located, &self->text, &self->places);
    }
    find_files(self);
    self->limits_known = false;
}

static void set_limits(struct cgroup *self, struct trk_sample *sample)
{
    if (!self->limits_known)
        trk__cgroup_places_limits(&self->places, &self->limits);
    self->limits_known = true;
    if (self->limits.has_cpu)
        trk__sample_set(sample, TRK_M_SYS_CG_CPU_LIMIT,
                        (uint64_t)(self->limits.cpu_cores * 1e9 + 0.5));
    if (self->limits.has_memory)
        trk__sample_set(sample, TRK_M_SYS_CG_MEM_LIMIT, self->limits.memory_bytes);
}

/* A file that can't be read is left alone until the next locating. */
static bool read_file(struct cgroup *self, enum file file, char *data, size_t size,
                      struct trk_cursor *ret_text)
{
    if (!self->readable[file])
        return false;
    int len = trk__kept_file_read_small(&self->file[file], data, size);
    self->readable[file] = len >= 0;
    if (len < 0)
        return false;
    *ret_text = trk__cursor(data, (size_t)len);
    return true;
}

static void set_cpu(struct cgroup *self, struct trk_sample *sample)
{
    char data[SMALL_FILE_SIZE];
    struct trk_cursor text;
    uint64_t value;
    if (read_file(self, FILE_CPU_USAGE, data, sizeof data, &text) && trk__cursor_u64(&text, &value))
        trk__sample_set(sample, TRK_M_SYS_CG_CPU, value);
    if (!read_file(self, FILE_CPU_STAT, data, sizeof data, &text))
        return;
    bool v2 = self->places.of[TRK_CGROUP_CPU].version == TRK_CGROUP_V2;
    if (v2 && trk__flat_key_find(text, "usage_usec", &value))
        trk__sample_set(sample, TRK_M_SYS_CG_CPU, value * 1000);
    if (trk__flat_key_find(text, v2 ? "throttled_usec" : "throttled_time", &value))
        trk__sample_set(sample, TRK_M_SYS_CG_THROTTLED, v2 ? value * 1000 : value);
}

static void refresh_inactive(struct cgroup *self, int64_t now_ns)
{
    char data[MEMORY_STAT_SIZE];
    struct trk_cursor text;
    if (self->memory_stat_ns && now_ns < self->memory_stat_ns)
        return;
    self->memory_stat_ns = now_ns + MEMORY_STAT_PERIOD_NS;
    bool v2 = self->places.of[TRK_CGROUP_MEMORY].version == TRK_CGROUP_V2;
    self->has_inactive = read_file(self, FILE_MEMORY_STAT, data, sizeof data, &text) &&
                         trk__flat_key_find(text, v2 ? "inactive_file" : "total_inactive_file",
                                            &self->inactive_bytes);
}

static void set_memory(struct cgroup *self, struct trk_sample *sample, int64_t now_ns)
{
    char data[SMALL_FILE_SIZE];
    struct trk_cursor text;
    uint64_t value;
    if (!read_file(self, FILE_MEMORY_USAGE, data, sizeof data, &text) ||
        !trk__cursor_u64(&text, &value))
        return;
    refresh_inactive(self, now_ns);
    if (self->has_inactive)
        trk__sample_set(sample, TRK_M_SYS_CG_MEM_USED,
                        value > self->inactive_bytes ? value - self->inactive_bytes : 0);
}

static void set_oom_kills(struct cgroup *self, struct trk_sample *sample)
{
    char data[SMALL_FILE_SIZE];
    struct trk_cursor text;
    uint64_t value;
    if (read_file(self, FILE_OOM, data, sizeof data, &text) &&
        trk__flat_key_find(text, "oom_kill", &value))
        trk__sample_set(sample, TRK_M_SYS_CG_OOM_KILLS, value);
}

static void cgroup_read(void *handle, struct trk_sample *sample)
{
    struct cgroup *self = handle;
    int64_t now_ns = trk__context_monotonic_ns(self->context);
    if (self->locate_ns == 0 || now_ns >= self->locate_ns) {
        locate(self);
        self->locate_ns = now_ns + LOCATE_PERIOD_NS;
    }
    set_cpu(self, sample);
    sample->read_ns[TRK_SOURCE_CGROUP] = trk__context_monotonic_ns(self->context);
    set_oom_kills(self, sample);
    if (sample->counters_only)
        return;
    set_memory(self, sample, now_ns);
    set_limits(self, sample);
}

const struct trk_collector_ops trk__cgroup_ops = {
    .name = "cgroup",
    .open = cgroup_open,
    .read = cgroup_read,
    .close = cgroup_close,
};
