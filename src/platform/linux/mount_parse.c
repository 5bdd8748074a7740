/* Parsers of mount tables, cgroup files and pool lists; see sys_parse.h. */
#include "platform/linux/sys_parse.h"

#include <string.h>

/* "254:0" */
static bool parse_device(struct trk_cursor *line, uint64_t *ret_device)
{
    uint64_t major;
    uint64_t minor;
    if (!trk__cursor_u64(line, &major) || !trk__cursor_accept(line, ":") ||
        !trk__cursor_u64(line, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
        return false;
    *ret_device = major << 32 | minor;
    return true;
}

/* The optional fields, of any number, end with a lone hyphen. */
static bool skip_optional_fields(struct trk_cursor *line)
{
    struct trk_cursor word;
    while (trk__cursor_word(line, &word))
        if (trk__cursor_equals(&word, "-"))
            return true;
    return false;
}

static bool parse_mount_line(struct trk_cursor line, struct trk_mount_line *ret_line)
{
    struct trk_cursor options;
    if (!trk__cursor_skip_words(&line, 2) || !parse_device(&line, &ret_line->device) ||
        !trk__cursor_word(&line, &ret_line->root) || !trk__cursor_word(&line, &ret_line->point) ||
        !trk__cursor_word(&line, &options) || !skip_optional_fields(&line) ||
        !trk__cursor_word(&line, &ret_line->type))
        return false;
    /* A source may be empty: then the super options stand in its place, and there are none. */
    struct trk_cursor first;
    if (!trk__cursor_word(&line, &first))
        return false;
    bool both = trk__cursor_word(&line, &ret_line->super_options);
    ret_line->source = both ? first : (struct trk_cursor){first.at, first.at};
    if (!both)
        ret_line->super_options = first;
    return true;
}

bool trk__mountinfo_next(struct trk_cursor *text, struct trk_mount_line *ret_line)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_mount_line(line, ret_line))
            return true;
    return false;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Takes one character, escaped or not; -1 for one that no path can hold. */
static int decode_one(struct trk_cursor *path)
{
    const char *at = path->at;
    if (*at == '\\' && path->end - at >= 4 && at[1] <= '3' && is_octal(at[1]) && is_octal(at[2]) &&
        is_octal(at[3])) {
        path->at += 4;
        int code = (at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0');
        return code ? code : -1;
    }
    path->at++;
    return *at ? (unsigned char)*at : -1;
}

int trk__mount_path_decode(struct trk_cursor path, char *ret_text, size_t size)
{
    size_t len = 0;
    while (!trk__cursor_at_end(&path)) {
        int c = decode_one(&path);
        if (c < 0 || len + 1 >= size)
            return -1;
        ret_text[len++] = (char)c;
    }
    if (len >= size)
        return -1;
    ret_text[len] = '\0';
    return (int)len;
}

bool trk__path_is_within(const char *path, const char *top)
{
    size_t len = strlen(top);
    if (len && top[len - 1] == '/')
        len--;
    return strncmp(path, top, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

bool trk__mount_point_is_kernels(const char *point)
{
    return trk__path_is_within(point, "/proc") || trk__path_is_within(point, "/sys") ||
           trk__path_is_within(point, "/dev") || trk__path_is_within(point, "/run");
}

bool trk__mount_type_is_remote(struct trk_cursor type)
{
    static const char *const types[] = {
        "nfs",    "nfs4",      "cifs",   "smb3",     "smbfs",   "9p",   "ceph",
        "lustre", "glusterfs", "afs",    "beegfs",   "fuse",    "gpfs", "orangefs",
        "pvfs2",  "ncpfs",     "coda",   "virtiofs", "ocfs2",   "gfs2", "wekafs",
        "panfs",  "vboxsf",    "prl_fs", "vmhgfs",   "fuseblk", "acfs",
    };
    struct trk_cursor rest = type;
    if (trk__cursor_accept(&rest, "fuse."))
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (trk__cursor_equals(&type, types[i]))
            return true;
    return false;
}

/* Takes what stands before `stop`, or all of it, and moves past it. */
static struct trk_cursor take_until(struct trk_cursor *text, char stop)
{
    size_t left = (size_t)(text->end - text->at);
    const char *found = left ? memchr(text->at, stop, left) : NULL;
    struct trk_cursor taken = {.at = text->at, .end = found ? found : text->end};
    text->at = found ? found + 1 : text->end;
    return taken;
}

bool trk__list_has(struct trk_cursor list, const char *word)
{
    while (!trk__cursor_at_end(&list)) {
        struct trk_cursor item = take_until(&list, ',');
        if (trk__cursor_equals(&item, word))
            return true;
    }
    return false;
}

static bool parse_cgroup_line(struct trk_cursor line, struct trk_cgroup_line *ret_line)
{
    if (!trk__cursor_u64(&line, &ret_line->hierarchy) || !trk__cursor_accept(&line, ":"))
        return false;
    ret_line->controllers = take_until(&line, ':');
    ret_line->path = line;
    return !trk__cursor_at_end(&line) && *line.at == '/';
}

bool trk__proc_cgroup_next(struct trk_cursor *text, struct trk_cgroup_line *ret_line)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_cgroup_line(line, ret_line))
            return true;
    return false;
}

bool trk__flat_key_find(struct trk_cursor text, const char *key, uint64_t *ret_value)
{
    struct trk_cursor line;
    while (trk__cursor_line(&text, &line))
        if (trk__cursor_accept(&line, key) && trk__cursor_accept(&line, " "))
            return trk__cursor_u64(&line, ret_value);
    return false;
}

bool trk__cpu_max_parse(struct trk_cursor text, uint64_t *ret_quota_us, uint64_t *ret_period_us)
{
    uint64_t quota_us;
    uint64_t period_us;
    if (!trk__cursor_u64(&text, &quota_us) || !trk__cursor_u64(&text, &period_us) || !period_us)
        return false;
    *ret_quota_us = quota_us;
    *ret_period_us = period_us;
    return true;
}

bool trk__memory_limit_parse(struct trk_cursor text, uint64_t *ret_bytes)
{
    /* Version 1 says "none" with the largest number of pages that a long can hold. */
    const uint64_t unlimited_bytes = UINT64_C(1) << 60;
    uint64_t bytes;
    if (!trk__cursor_u64(&text, &bytes) || bytes >= unlimited_bytes)
        return false;
    *ret_bytes = bytes;
    return true;
}

static bool parse_pool_line(struct trk_cursor line, struct trk_pool_line *ret_line)
{
    uint64_t allocated_bytes;
    return trk__cursor_word(&line, &ret_line->name) &&
           trk__cursor_u64(&line, &ret_line->size_bytes) &&
           trk__cursor_u64(&line, &allocated_bytes) &&
           trk__cursor_u64(&line, &ret_line->free_bytes);
}

bool trk__zpool_next(struct trk_cursor *text, struct trk_pool_line *ret_line)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_pool_line(line, ret_line))
            return true;
    return false;
}
