/* platform/linux/sys_parse.h: every parser of the machine's files sees every text. What they hand out points into
 * it, and each step of a `_next` moves on. */
#include "fuzz.h"
#include "platform/linux/sys_parse.h"

static struct trk_cursor whole;

static void require_inside(struct trk_cursor part)
{
    FUZZ_REQUIRE(part.at >= whole.at && part.at <= part.end && part.end <= whole.end);
}

/* A step that succeeds without moving would never end. */
static bool moved_on(struct trk_cursor *before, struct trk_cursor now)
{
    require_inside(now);
    FUZZ_REQUIRE(now.at > before->at);
    *before = now;
    return true;
}

#define FOR_EACH_LINE(next, line)                                                                  \
    for (struct trk_cursor text_ = whole, before_ = whole;                                         \
         next(&text_, &(line)) && moved_on(&before_, text_);)

static void read_stat(void)
{
    struct trk_stat_line line;
    FOR_EACH_LINE(trk__stat_next, line)
    {
        if (line.kind > TRK_STAT_CPU_CORE)
            continue;
        require_inside(line.name);
        FUZZ_REQUIRE(line.tick_count >= 4 && line.tick_count <= TRK_TICK_COUNT);
    }
}

static void read_disks(void)
{
    struct trk_disk_line line;
    FOR_EACH_LINE(trk__diskstats_next, line)
    {
        require_inside(line.name);
        trk__disk_name_is_virtual(line.name);
    }
}

static void read_interfaces(void)
{
    struct trk_net_line line;
    FOR_EACH_LINE(trk__netdev_next, line)
    require_inside(line.name);
}

static void decode(struct trk_cursor path)
{
    char decoded[64];
    int len = trk__mount_path_decode(path, decoded, sizeof decoded);
    FUZZ_REQUIRE(len >= -1 && len < (int)sizeof decoded);
    if (len < 0)
        return;
    FUZZ_REQUIRE(strlen(decoded) == (size_t)len);
    trk__mount_point_is_kernels(decoded);
    FUZZ_REQUIRE(trk__path_is_within(decoded, decoded));
}

static void read_mounts(void)
{
    struct trk_mount_line line;
    FOR_EACH_LINE(trk__mountinfo_next, line)
    {
        require_inside(line.root);
        require_inside(line.point);
        require_inside(line.type);
        require_inside(line.source);
        require_inside(line.super_options);
        decode(line.root);
        decode(line.point);
        trk__mount_type_is_remote(line.type);
        trk__list_has(line.super_options, "memory");
    }
}

static void read_cgroups(void)
{
    struct trk_cgroup_line line;
    FOR_EACH_LINE(trk__proc_cgroup_next, line)
    {
        require_inside(line.controllers);
        require_inside(line.path);
        trk__list_has(line.controllers, "cpu");
    }
    uint64_t value, period_us;
    trk__flat_key_find(whole, "usage_usec", &value);
    if (trk__cpu_max_parse(whole, &value, &period_us))
        FUZZ_REQUIRE(period_us > 0);
    trk__memory_limit_parse(whole, &value);
}

static void read_pools(void)
{
    struct trk_pool_line line;
    FOR_EACH_LINE(trk__zpool_next, line)
    require_inside(line.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    whole = trk__cursor((const char *)data, len);
    read_stat();
    read_disks();
    read_interfaces();
    read_mounts();
    read_cgroups();
    read_pools();
    struct trk_memory_info memory;
    trk__meminfo_parse(whole, &memory);
    FUZZ_REQUIRE(memory.valid >> TRK_MEMORY_FIELD_COUNT == 0);
    uint64_t hundredths[3];
    trk__loadavg_parse(whole, hundredths);
    struct trk_pressure pressure;
    trk__pressure_parse(whole, &pressure);
    return 0;
}
