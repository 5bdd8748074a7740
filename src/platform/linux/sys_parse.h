/* Parsers of the kernel's system files: pure functions over text, apart from any reading, that survive
 * any bytes. A `_next` function takes what it understands from the front of `text`, skips what it does
 * not, and is false at the end. */
#ifndef TRK_LINUX_SYS_PARSE_H
#define TRK_LINUX_SYS_PARSE_H

#include "base/parse.h"

/* /proc/stat. Guest time is part of user time already. */
enum trk_tick {
    TRK_TICK_USER,
    TRK_TICK_NICE,
    TRK_TICK_SYSTEM,
    TRK_TICK_IDLE,
    TRK_TICK_IOWAIT,
    TRK_TICK_IRQ,
    TRK_TICK_SOFTIRQ,
    TRK_TICK_STEAL,
    TRK_TICK_COUNT
};

enum trk_stat_kind {
    TRK_STAT_CPU_TOTAL,
    TRK_STAT_CPU_CORE,
    TRK_STAT_CONTEXT_SWITCHES,
    TRK_STAT_FORKS,
    TRK_STAT_RUNNING,
    TRK_STAT_BLOCKED
};

struct trk_stat_line {
    enum trk_stat_kind kind;
    struct trk_cursor name;         /* of the CPU kinds: "cpu", "cpu12" */
    uint64_t ticks[TRK_TICK_COUNT]; /* of the CPU kinds; 0 beyond tick_count */
    unsigned tick_count;            /* how many the kernel has: at least the first four */
    uint64_t value;                 /* of the other kinds */
};

bool trk__stat_next(struct trk_cursor *text, struct trk_stat_line *ret_line);

/* /proc/meminfo, in the kernel's order. */
enum trk_memory_field {
    TRK_MEMORY_TOTAL,
    TRK_MEMORY_FREE,
    TRK_MEMORY_AVAILABLE,
    TRK_MEMORY_BUFFERS,
    TRK_MEMORY_CACHED,
    TRK_MEMORY_ACTIVE,
    TRK_MEMORY_INACTIVE,
    TRK_MEMORY_ACTIVE_ANON,
    TRK_MEMORY_INACTIVE_ANON,
    TRK_MEMORY_SWAP_TOTAL,
    TRK_MEMORY_SWAP_FREE,
    TRK_MEMORY_DIRTY,
    TRK_MEMORY_SHMEM,
    TRK_MEMORY_RECLAIMABLE,
    TRK_MEMORY_FIELD_COUNT
};

struct trk_memory_info {
    uint64_t bytes[TRK_MEMORY_FIELD_COUNT];
    uint32_t valid; /* bit i: bytes[i] was there */
};

void trk__meminfo_parse(struct trk_cursor text, struct trk_memory_info *ret_info);

/* /proc/diskstats. A sector is 512 bytes whatever the hardware's are. */
struct trk_disk_line {
    struct trk_cursor name;
    uint64_t read_ops;
    uint64_t read_sectors;
    uint64_t write_ops;
    uint64_t write_sectors;
    uint64_t busy_ms;
};

bool trk__diskstats_next(struct trk_cursor *text, struct trk_disk_line *ret_line);

/* Disks that stand on other disks or on memory: loop, ram, zram, dm-, md. */
bool trk__disk_name_is_virtual(struct trk_cursor name);

/* /proc/net/dev */
struct trk_net_line {
    struct trk_cursor name;
    uint64_t recv_bytes;
    uint64_t recv_packets;
    uint64_t sent_bytes;
    uint64_t sent_packets;
};

bool trk__netdev_next(struct trk_cursor *text, struct trk_net_line *ret_line);

/* /proc/loadavg: 1, 5 and 15 minutes in hundredths. */
bool trk__loadavg_parse(struct trk_cursor text, uint64_t ret_hundredths[3]);

/* /proc/pressure/X: the counters behind `total=`. */
struct trk_pressure {
    uint64_t some_us;
    uint64_t full_us;
    bool has_some;
    bool has_full;
};

void trk__pressure_parse(struct trk_cursor text, struct trk_pressure *ret_pressure);

/* /proc/self/mountinfo. Paths are as the kernel escapes them. */
struct trk_mount_line {
    uint64_t device; /* major << 32 | minor: one a superblock, so bind mounts share it */
    struct trk_cursor root;
    struct trk_cursor point;
    struct trk_cursor type;
    struct trk_cursor source;
    struct trk_cursor super_options;
};

bool trk__mountinfo_next(struct trk_cursor *text, struct trk_mount_line *ret_line);

/* Undoes the kernel's octal escapes (\040 is a blank) into a NUL-terminated text. Returns its length, or -1 when
 * it does not fit or would hold a NUL. */
int trk__mount_path_decode(struct trk_cursor path, char *ret_text, size_t size);

/* True when `path` is `top` or stands below it. */
bool trk__path_is_within(const char *path, const char *top);

/* Mount points of the kernel's own trees, which hold no disk space. */
bool trk__mount_point_is_kernels(const char *point);

/* File systems whose statvfs may wait for another machine or a user's program. */
bool trk__mount_type_is_remote(struct trk_cursor type);

/* True when `word` is one of the comma-separated words of `list`. */
bool trk__list_has(struct trk_cursor list, const char *word);

/* /proc/self/cgroup: "4:memory:/a/b", and "0::/a/b" for version 2. */
struct trk_cgroup_line {
    uint64_t hierarchy;
    struct trk_cursor controllers;
    struct trk_cursor path;
};

bool trk__proc_cgroup_next(struct trk_cursor *text, struct trk_cgroup_line *ret_line);

/* "key value" lines, as in cpu.stat, memory.stat and memory.events. */
bool trk__flat_key_find(struct trk_cursor text, const char *key, uint64_t *ret_value);

/* cpu.max: "quota period". False for "max". */
bool trk__cpu_max_parse(struct trk_cursor text, uint64_t *ret_quota_us, uint64_t *ret_period_us);

/* A memory limit of either version. False for "max" and for version 1's numbers that mean none. */
bool trk__memory_limit_parse(struct trk_cursor text, uint64_t *ret_bytes);

/* `zpool list -Hp -o name,size,allocated,free` */
struct trk_pool_line {
    struct trk_cursor name;
    uint64_t size_bytes;
    uint64_t free_bytes;
};

bool trk__zpool_next(struct trk_cursor *text, struct trk_pool_line *ret_line);

#endif
