#include "platform/linux/proc_maps.h"

#include <string.h>

static bool take_hex(struct trk_cursor *cursor, char terminator, uint64_t *ret_value)
{
    uint64_t value = 0;
    const char *at = cursor->at;
    for (; at < cursor->end && *at != terminator; at++) {
        int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                                               : -1;
        if (digit < 0 || value >> 60)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    if (at == cursor->at || at == cursor->end)
        return false;
    cursor->at = at + 1;
    *ret_value = value;
    return true;
}

static bool starts_with_any(const struct trk_cursor *path, const char *const *prefixes,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct trk_cursor rest = *path;
        if (trk__cursor_accept(&rest, prefixes[i]))
            return true;
    }
    return false;
}

/* What is neither in the RSS nor anyone's: the kernel's pages and huge page files. */
static bool is_outside_rss(const struct trk_cursor *path)
{
    static const char *const prefixes[] = {"[vvar", "[vsyscall]", "[vdso]", "/anon_hugepage",
                                           "/dev/hugepages"};
    return starts_with_any(path, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

static bool is_shmem_path(const struct trk_cursor *path)
{
    static const char *const prefixes[] = {"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero",
                                           "/run/shm/"};
    return starts_with_any(path, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

static bool parse_line(struct trk_cursor line, struct trk_maps_range *ret_range)
{
    struct trk_maps_range range = {0};
    struct trk_cursor access, path;
    if (!take_hex(&line, '-', &range.start) || !take_hex(&line, ' ', &range.end) ||
        range.start >= range.end || !trk__cursor_word(&line, &access) || access.end - access.at < 4)
        return false;
    if (memcmp(access.at, "---", 3) == 0)
        return false;
    /* Offset, device, inode. */
    if (!trk__cursor_skip_words(&line, 3))
        return false;
    trk__cursor_skip_blanks(&line);
    path = line;
    if (is_outside_rss(&path))
        return false;
    range.is_shmem = is_shmem_path(&path);
    *ret_range = range;
    return true;
}

bool trk__maps_next(struct trk_cursor *text, struct trk_maps_range *ret_range)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_line(line, ret_range))
            return true;
    return false;
}
