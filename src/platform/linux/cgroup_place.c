#include "platform/linux/cgroup_place.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* A quota of more cores than any machine has is no limit. */
enum { LEVELS_MAX = 64, LIMIT_FILE_SIZE = 64, CORES_MAX = 1000000 };

static const char *const controller_names[TRK_CGROUP_CONTROLLER_COUNT] = {
    [TRK_CGROUP_CPU] = "cpu",
    [TRK_CGROUP_CPUACCT] = "cpuacct",
    [TRK_CGROUP_MEMORY] = "memory",
};

/* The process's paths in each hierarchy, as text in the caller's buffer. */
struct own_paths {
    struct trk_cursor path[TRK_CGROUP_CONTROLLER_COUNT];
    enum trk_cgroup_version version[TRK_CGROUP_CONTROLLER_COUNT];
};

void trk__cgroup_places_init(struct trk_cgroup_places *places)
{
    *places = (struct trk_cgroup_places){0};
    for (unsigned c = 0; c < TRK_CGROUP_CONTROLLER_COUNT; c++)
        places->of[c].dir_fd = -1;
}

void trk__cgroup_places_close(struct trk_cgroup_places *places)
{
    for (unsigned c = 0; c < TRK_CGROUP_CONTROLLER_COUNT; c++)
        if (places->of[c].dir_fd >= 0)
            close(places->of[c].dir_fd);
    trk__cgroup_places_init(places);
}

/* A controller lives in one hierarchy: where version 1 names it, version 2 does not have it. */
static void find_own_paths(struct trk_cursor text, struct own_paths *ret_own)
{
    struct trk_cgroup_line line;
    *ret_own = (struct own_paths){0};
    while (trk__proc_cgroup_next(&text, &line)) {
        bool unified = line.hierarchy == 0 && trk__cursor_at_end(&line.controllers);
        for (unsigned c = 0; c < TRK_CGROUP_CONTROLLER_COUNT; c++) {
            bool named = trk__list_has(line.controllers, controller_names[c]);
            bool fits = named || (unified && c != TRK_CGROUP_CPUACCT &&
                                  ret_own->version[c] == TRK_CGROUP_NONE);
            if (!fits)
                continue;
            ret_own->path[c] = line.path;
            ret_own->version[c] = named ? TRK_CGROUP_V1 : TRK_CGROUP_V2;
        }
    }
}

/* The part of the process's path below the mount's root, or NULL when it does not stand there. A root of
 * "/.." is above the cgroup namespace: the way down from it is not told. */
static const char *path_below_mount(const char *own, const char *root, bool *ret_above)
{
    *ret_above = strncmp(root, "/..", 3) == 0;
    if (*ret_above)
        return "";
    if (strncmp(own, "/..", 3) == 0 || !trk__path_is_within(own, root))
        return NULL;
    return own + (strcmp(root, "/") == 0 ? 0 : strlen(root));
}

static unsigned count_levels(const char *below)
{
    unsigned levels = 0;
    for (const char *c = below; *c; c++)
        levels += *c == '/' && c[1] && c[1] != '/';
    return levels < LEVELS_MAX ? levels : LEVELS_MAX;
}

/* Opens `path`, whose first `mount_len` bytes are the mount point; where it is hidden, its nearest
 * ancestor that is not. */
static int open_nearest(int root_fd, char *path, size_t mount_len, bool *ret_exact)
{
    *ret_exact = true;
    for (;;) {
        const char *relative = path + strspn(path, "/");
        int fd = openat(root_fd, *relative ? relative : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        char *slash = strrchr(path, '/');
        if (fd >= 0 || !slash || (size_t)(slash - path) < mount_len)
            return fd;
        *slash = '\0';
        *ret_exact = false;
    }
}

static void open_place(const struct trk_context *context, const struct trk_mount_line *mount,
                       struct trk_cursor own, enum trk_cgroup_version version,
                       struct trk_cgroup_place *place)
{
    char root[PATH_MAX];
    char path[2 * PATH_MAX];
    char own_path[PATH_MAX];
    bool above;
    bool exact;
    int mount_len = trk__mount_path_decode(mount->point, path, PATH_MAX);
    if (mount_len < 0 || trk__mount_path_decode(mount->root, root, sizeof root) < 0)
        return;
    trk__cursor_copy(&own, own_path, sizeof own_path);
    const char *below = path_below_mount(own_path, root, &above);
    if (!below)
        return;
    if (strcmp(below, "/") != 0)
        memcpy(path + mount_len, below, strlen(below) + 1);
    int fd = open_nearest(context->root_fd, path, (size_t)mount_len, &exact);
    if (fd < 0)
        return;
    if (place->dir_fd >= 0)
        close(place->dir_fd);
    *place = (struct trk_cgroup_place){
        .version = version,
        .dir_fd = fd,
        .levels = count_levels(path + mount_len),
        .exact = exact && !above,
    };
}

static bool mount_has(const struct trk_mount_line *mount, unsigned controller,
                      enum trk_cgroup_version version)
{
    if (version == TRK_CGROUP_V2)
        return trk__cursor_equals(&mount->type, "cgroup2");
    return version == TRK_CGROUP_V1 && trk__cursor_equals(&mount->type, "cgroup") &&
           trk__list_has(mount->super_options, controller_names[controller]);
}

void trk__cgroup_places_find(const struct trk_context *context, const struct trk_buffer *membership,
                             struct trk_buffer *scratch, struct trk_cgroup_places *places)
{
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, "self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, scratch) < 0)
        return;
    struct own_paths own;
    find_own_paths(trk__cursor(membership->data, membership->len), &own);

    struct trk_cursor text = trk__cursor(scratch->data, scratch->len);
    struct trk_mount_line mount;
    while (trk__mountinfo_next(&text, &mount)) {
        struct trk_cursor type = mount.type;
        if (!trk__cursor_accept(&type, "cgroup"))
            continue;
        for (unsigned c = 0; c < TRK_CGROUP_CONTROLLER_COUNT; c++)
            if (!places->of[c].exact && mount_has(&mount, c, own.version[c]))
                open_place(context, &mount, own.path[c], own.version[c], &places->of[c]);
    }
}

bool trk__cgroup_is_same(enum trk_cgroup_controller controller, const struct trk_buffer *membership,
                         const struct trk_buffer *other)
{
    struct own_paths a, b;
    find_own_paths(trk__cursor(membership->data, membership->len), &a);
    find_own_paths(trk__cursor(other->data, other->len), &b);
    size_t len = (size_t)(a.path[controller].end - a.path[controller].at);
    size_t other_len = (size_t)(b.path[controller].end - b.path[controller].at);
    return a.version[controller] == b.version[controller] && len == other_len &&
           (len == 0 || memcmp(a.path[controller].at, b.path[controller].at, len) == 0);
}

/* Reads `name` in the cgroup that is `level` above the place. */
static bool read_level(const struct trk_cgroup_place *place, unsigned level, const char *name,
                       char text[LIMIT_FILE_SIZE], struct trk_cursor *ret_text)
{
    char path[LEVELS_MAX * 3 + 64];
    char *end = path;
    for (unsigned i = 0; i < level; i++)
        end = mempcpy(end, "../", 3);
    memcpy(end, name, strlen(name) + 1);
    int len = trk__file_read_small_at(place->dir_fd, path, text, LIMIT_FILE_SIZE);
    if (len < 0)
        return false;
    *ret_text = trk__cursor(text, (size_t)len);
    return true;
}

static bool level_cpu_cores(const struct trk_cgroup_place *place, unsigned level, double *ret_cores)
{
    char text[LIMIT_FILE_SIZE];
    struct trk_cursor at;
    uint64_t quota_us = 0;
    uint64_t period_us = 0;
    if (place->version == TRK_CGROUP_V2) {
        if (!read_level(place, level, "cpu.max", text, &at) ||
            !trk__cpu_max_parse(at, &quota_us, &period_us))
            return false;
    } else {
        /* A quota of -1 is none. */
        if (!read_level(place, level, "cpu.cfs_quota_us", text, &at) ||
            !trk__cursor_u64(&at, &quota_us) ||
            !read_level(place, level, "cpu.cfs_period_us", text, &at) ||
            !trk__cursor_u64(&at, &period_us))
            return false;
    }
    if (!quota_us || !period_us || quota_us / period_us >= CORES_MAX)
        return false;
    *ret_cores = (double)quota_us / (double)period_us;
    return true;
}

static bool level_memory_bytes(const struct trk_cgroup_place *place, unsigned level,
                               uint64_t *ret_bytes)
{
    char text[LIMIT_FILE_SIZE];
    struct trk_cursor at;
    const char *name = place->version == TRK_CGROUP_V2 ? "memory.max" : "memory.limit_in_bytes";
    return read_level(place, level, name, text, &at) && trk__memory_limit_parse(at, ret_bytes);
}

void trk__cgroup_places_limits(const struct trk_cgroup_places *places,
                               struct trk_limits *ret_limits)
{
    struct trk_limits limits = {0};
    const struct trk_cgroup_place *cpu = &places->of[TRK_CGROUP_CPU];
    const struct trk_cgroup_place *memory = &places->of[TRK_CGROUP_MEMORY];
    double cores;
    uint64_t bytes;
    /* Any ancestor may hold the tightest one: a limit on a parent binds all below it. */
    for (unsigned level = 0; cpu->dir_fd >= 0 && level <= cpu->levels; level++) {
        if (level_cpu_cores(cpu, level, &cores) && (!limits.has_cpu || cores < limits.cpu_cores)) {
            limits.cpu_cores = cores;
            limits.has_cpu = true;
        }
    }
    for (unsigned level = 0; memory->dir_fd >= 0 && level <= memory->levels; level++) {
        if (level_memory_bytes(memory, level, &bytes) &&
            (!limits.has_memory || bytes < limits.memory_bytes)) {
            limits.memory_bytes = bytes;
            limits.has_memory = true;
        }
    }
    *ret_limits = limits;
}

void trk__limits_read(const struct trk_context *context, struct trk_limits *ret_limits)
{
    struct trk_cgroup_places places;
    struct trk_buffer own;
    struct trk_buffer scratch;
    *ret_limits = (struct trk_limits){0};
    trk__cgroup_places_init(&places);
    trk__buffer_init(&own, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&scratch, TRK_BUFFER_LIMIT_DEFAULT);
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, "self/cgroup", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && trk__file_read_all(fd, TRK_FILE_ONE_RECORD, &own) == 0) {
        trk__cgroup_places_find(context, &own, &scratch, &places);
        trk__cgroup_places_limits(&places, ret_limits);
    }
    trk__cgroup_places_close(&places);
    trk__buffer_done(&scratch);
    trk__buffer_done(&own);
}
