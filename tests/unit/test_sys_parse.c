/* The parsers of system files, on good, old, odd and hostile text. */
#include "platform/linux/sys_parse.h"

#include "check.h"

#include <stdlib.h>

static struct trk_cursor text_of(const char *text)
{
    return trk__cursor(text, strlen(text));
}

static void test_stat_lines(void)
{
    struct trk_cursor text =
        text_of("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4\nintr 5 0 0\nctxt 77\n"
                "btime 1\nprocesses 88\nprocs_running 2\nprocs_blocked 0\nsoftirq 1\n");
    struct trk_stat_line line;
    CHECK(trk__stat_next(&text, &line) && line.kind == TRK_STAT_CPU_TOTAL);
    REQUIRE_U64(line.tick_count, TRK_TICK_COUNT);
    CHECK_U64(line.ticks[TRK_TICK_STEAL], 8);
    CHECK(trk__stat_next(&text, &line) && line.kind == TRK_STAT_CPU_CORE);
    CHECK(trk__cursor_equals(&line.name, "cpu0"));
    REQUIRE_U64(line.tick_count, 4);
    CHECK_U64(line.ticks[TRK_TICK_STEAL], 0);
    CHECK(trk__stat_next(&text, &line) && line.kind == TRK_STAT_CONTEXT_SWITCHES);
    CHECK_U64(line.value, 77);
    CHECK(trk__stat_next(&text, &line) && line.kind == TRK_STAT_FORKS && line.value == 88);
    CHECK(trk__stat_next(&text, &line) && line.kind == TRK_STAT_RUNNING && line.value == 2);
    CHECK(trk__stat_next(&text, &line) && line.kind == TRK_STAT_BLOCKED && line.value == 0);
    CHECK(!trk__stat_next(&text, &line));
}

static void test_stat_broken(void)
{
    struct trk_cursor text =
        text_of("cpu\ncpu0 1 2 3\nctxt\nctxt x\nprocesses 99999999999999999999999\np\nc\n\n");
    struct trk_stat_line line;
    CHECK(!trk__stat_next(&text, &line));
}

static void test_meminfo_any_order(void)
{
    struct trk_memory_info info;
    trk__meminfo_parse(text_of("Cached: 7 kB\nMemTotal:       100 kB\nSwapCached: 3 kB\nnonsense\n"
                               "MemFree: x kB\nActive(anon): 9 kB\nActive: 10 kB"),
                       &info);
    CHECK_U64(info.valid, 1u << TRK_MEMORY_CACHED | 1u << TRK_MEMORY_TOTAL |
                              1u << TRK_MEMORY_ACTIVE_ANON | 1u << TRK_MEMORY_ACTIVE);
    CHECK_U64(info.bytes[TRK_MEMORY_CACHED], 7 * 1024);
    CHECK_U64(info.bytes[TRK_MEMORY_ACTIVE_ANON], 9 * 1024);
    CHECK_U64(info.bytes[TRK_MEMORY_ACTIVE], 10 * 1024);
    trk__meminfo_parse(text_of("MemTotal: 18446744073709551615 kB\n"), &info);
    CHECK_U64(info.valid, 0);
}

static void test_diskstats(void)
{
    struct trk_cursor text =
        text_of("   8       1 sda1 1 2 3 4\n   8 0 sda 1 2 3 4 5 6 7 8 9 10 11\nbad\n"
                " 104 0 cciss/c0d0 1 0 2 0 3 0 4 0 0 5 0 0 0 0 0 0 0\n");
    struct trk_disk_line line;
    CHECK(trk__diskstats_next(&text, &line) && trk__cursor_equals(&line.name, "sda"));
    CHECK_U64(line.read_ops, 1);
    CHECK_U64(line.read_sectors, 3);
    CHECK_U64(line.write_ops, 5);
    CHECK_U64(line.write_sectors, 7);
    CHECK_U64(line.busy_ms, 10);
    CHECK(trk__diskstats_next(&text, &line) && trk__cursor_equals(&line.name, "cciss/c0d0"));
    CHECK(!trk__diskstats_next(&text, &line));
}

static void test_disk_names(void)
{
    CHECK(trk__disk_name_is_virtual(text_of("loop12")));
    CHECK(trk__disk_name_is_virtual(text_of("dm-3")));
    CHECK(trk__disk_name_is_virtual(text_of("md127")));
    CHECK(trk__disk_name_is_virtual(text_of("zram0")));
    CHECK(!trk__disk_name_is_virtual(text_of("mmcblk0")));
    CHECK(!trk__disk_name_is_virtual(text_of("sda")));
    CHECK(!trk__disk_name_is_virtual(text_of("")));
}

static void test_netdev(void)
{
    struct trk_cursor text = text_of(
        "Inter-|   Receive      |  Transmit\n face |bytes packets errs|bytes\n"
        "  eth0:12345678901234 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n:1 2 0 0 0 0 0 0 3 4\nwg0: 1 2\n"
        "wg1: 5 6 0 0 0 0 0 0 7 8");
    struct trk_net_line line;
    CHECK(trk__netdev_next(&text, &line) && trk__cursor_equals(&line.name, "eth0"));
    CHECK_U64(line.recv_bytes, 12345678901234);
    CHECK_U64(line.recv_packets, 2);
    CHECK_U64(line.sent_bytes, 3);
    CHECK_U64(line.sent_packets, 4);
    CHECK(trk__netdev_next(&text, &line) && trk__cursor_equals(&line.name, "wg1"));
    CHECK(!trk__netdev_next(&text, &line));
}

static void test_loadavg_and_pressure(void)
{
    uint64_t load[3] = {9, 9, 9};
    CHECK(!trk__loadavg_parse(text_of("0.10 0.20"), load));
    CHECK_U64(load[0], 9);
    CHECK(trk__loadavg_parse(text_of("0.10 1.23 45.60 1/2 3\n"), load));
    CHECK(load[0] == 10 && load[1] == 123 && load[2] == 4560);
    struct trk_pressure pressure;
    trk__pressure_parse(text_of("some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n"), &pressure);
    CHECK(pressure.has_some && !pressure.has_full);
    CHECK_U64(pressure.some_us, 42);
    trk__pressure_parse(text_of("some avg10=0.00\nfull total=\nfull x total=7"), &pressure);
    CHECK(!pressure.has_some && pressure.has_full && pressure.full_us == 7);
}

static void test_mountinfo(void)
{
    struct trk_cursor text = text_of(
        "36 35 98:0 /mnt1 /mnt/a\\040b rw,noatime master:1 shared:3 - ext3 /dev/root rw,errors=x\n"
        "37 35 0:9 / /m rw - tmpfs  rw,size=1\n38 35 98 / /m rw - ext4 a b\n39 35 1:1 / /m rw ext4 "
        "a b\n");
    struct trk_mount_line line;
    char path[64];
    CHECK(trk__mountinfo_next(&text, &line));
    CHECK_U64(line.device, UINT64_C(98) << 32);
    CHECK(trk__cursor_equals(&line.root, "/mnt1") && trk__cursor_equals(&line.type, "ext3"));
    CHECK(trk__cursor_equals(&line.source, "/dev/root"));
    CHECK(trk__cursor_equals(&line.super_options, "rw,errors=x"));
    CHECK_U64(trk__mount_path_decode(line.point, path, sizeof path), 8);
    CHECK_TEXT(path, "/mnt/a b");
    CHECK(trk__mountinfo_next(&text, &line) && trk__cursor_at_end(&line.source));
    CHECK(trk__cursor_equals(&line.super_options, "rw,size=1"));
    CHECK(!trk__mountinfo_next(&text, &line));
}

static void test_path_decode(void)
{
    char path[8];
    CHECK(trk__mount_path_decode(text_of("/a\\134\\"), path, sizeof path) == 4);
    CHECK_TEXT(path, "/a\\\\");
    CHECK(trk__mount_path_decode(text_of("/1234567"), path, sizeof path) == -1);
    CHECK(trk__mount_path_decode(text_of("/123456"), path, sizeof path) == 7);
    CHECK(trk__mount_path_decode(text_of("/\\000"), path, sizeof path) == -1);
    CHECK(trk__mount_path_decode(text_of("/\\777"), path, sizeof path) == 5);
    CHECK(trk__mount_path_decode(text_of(""), path, sizeof path) == 0);
}

static void test_mount_choice(void)
{
    CHECK(trk__path_is_within("/a/b", "/a") && trk__path_is_within("/a", "/a"));
    CHECK(trk__path_is_within("/a", "/") && !trk__path_is_within("/ab", "/a"));
    CHECK(trk__mount_point_is_kernels("/run") && trk__mount_point_is_kernels("/dev/shm"));
    CHECK(!trk__mount_point_is_kernels("/runner") && !trk__mount_point_is_kernels("/"));
    CHECK(trk__mount_type_is_remote(text_of("nfs4")) &&
          trk__mount_type_is_remote(text_of("fuse.sshfs")));
    CHECK(!trk__mount_type_is_remote(text_of("ext4")) &&
          !trk__mount_type_is_remote(text_of("nfsd")));
}

static void test_cgroup_lines(void)
{
    struct trk_cursor text =
        text_of("4:cpu,cpuacct:/a:b\n1:name=systemd:/x\nbad\n5:memory:\n0::/c d\n");
    struct trk_cgroup_line line;
    CHECK(trk__proc_cgroup_next(&text, &line) && line.hierarchy == 4);
    CHECK(trk__list_has(line.controllers, "cpuacct") && !trk__list_has(line.controllers, "cpua"));
    CHECK(trk__cursor_equals(&line.path, "/a:b"));
    CHECK(trk__proc_cgroup_next(&text, &line) && line.hierarchy == 1);
    CHECK(trk__proc_cgroup_next(&text, &line) && line.hierarchy == 0);
    CHECK(trk__cursor_equals(&line.path, "/c d") && trk__cursor_at_end(&line.controllers));
    CHECK(!trk__proc_cgroup_next(&text, &line));
}

static void test_cgroup_values(void)
{
    uint64_t a = 5;
    uint64_t b = 6;
    CHECK(trk__flat_key_find(text_of("oom 1\noom_kill 3\n"), "oom_kill", &a) && a == 3);
    CHECK(!trk__flat_key_find(text_of("oom_killx 3\noom_kil 4\n"), "oom_kill", &a));
    CHECK(trk__cpu_max_parse(text_of("150000 100000\n"), &a, &b) && a == 150000 && b == 100000);
    CHECK(!trk__cpu_max_parse(text_of("max 100000\n"), &a, &b));
    CHECK(!trk__cpu_max_parse(text_of("1 0\n"), &a, &b));
    CHECK(trk__memory_limit_parse(text_of("1073741824\n"), &a) && a == 1073741824);
    CHECK(!trk__memory_limit_parse(text_of("max\n"), &a));
    CHECK(!trk__memory_limit_parse(text_of("9223372036854771712\n"), &a));
}

static void test_zpool(void)
{
    struct trk_cursor text = text_of("tank\t100\t40\t60\nbroken\t-\t-\t-\nz\t7\t3\t4");
    struct trk_pool_line line;
    CHECK(trk__zpool_next(&text, &line) && trk__cursor_equals(&line.name, "tank"));
    CHECK(line.size_bytes == 100 && line.free_bytes == 60);
    CHECK(trk__zpool_next(&text, &line) && trk__cursor_equals(&line.name, "z"));
    CHECK(!trk__zpool_next(&text, &line));
}

static void parse_all(const char *data, size_t len)
{
    struct trk_stat_line stat;
    struct trk_memory_info memory;
    struct trk_disk_line disk;
    struct trk_net_line net;
    struct trk_pressure pressure;
    struct trk_mount_line mount;
    struct trk_cgroup_line cgroup;
    struct trk_pool_line pool;
    uint64_t value[3];
    char path[32];
    for (struct trk_cursor c = trk__cursor(data, len); trk__stat_next(&c, &stat);)
        ;
    for (struct trk_cursor c = trk__cursor(data, len); trk__diskstats_next(&c, &disk);)
        ;
    for (struct trk_cursor c = trk__cursor(data, len); trk__netdev_next(&c, &net);)
        ;
    for (struct trk_cursor c = trk__cursor(data, len); trk__mountinfo_next(&c, &mount);)
        trk__mount_path_decode(mount.point, path, sizeof path);
    for (struct trk_cursor c = trk__cursor(data, len); trk__proc_cgroup_next(&c, &cgroup);)
        trk__list_has(cgroup.controllers, "cpu");
    for (struct trk_cursor c = trk__cursor(data, len); trk__zpool_next(&c, &pool);)
        ;
    trk__meminfo_parse(trk__cursor(data, len), &memory);
    trk__pressure_parse(trk__cursor(data, len), &pressure);
    trk__loadavg_parse(trk__cursor(data, len), value);
    trk__flat_key_find(trk__cursor(data, len), "x", value);
    trk__cpu_max_parse(trk__cursor(data, len), value, value + 1);
    trk__memory_limit_parse(trk__cursor(data, len), value);
}

/* Pieces of every format in random order and cut anywhere, in memory of just that size: the sanitizers see
 * a read beyond it. */
static void test_hostile(void)
{
    static const char *const pieces[] = {
        "cpu",       "cpu0 ", "ctxt ", "processes ", "\n",    " ",      "\t",
        ":",         "0:",    "0::/",  "MemTotal:",  "some ", "total=", "18446744073709551616",
        "42",        "\\040", "\\",    "- ",         "-",     "1:2 ",   "/a ",
        "eth0:",     "x ",    "max",   ",",          "\xff",  ".",      "full ",
        "oom_kill ", "sda ",
    };
    srand(7);
    for (unsigned round = 0; round < 20000; round++) {
        char text[256];
        size_t len = 0;
        for (unsigned i = 0; i < 20; i++) {
            const char *piece = pieces[(unsigned)rand() % (sizeof pieces / sizeof *pieces)];
            size_t piece_len = strlen(piece);
            if (len + piece_len > sizeof text)
                break;
            memcpy(text + len, piece, piece_len);
            len += piece_len;
        }
        len -= len ? (size_t)rand() % (len / 4 + 1) : 0;
        if (round % 5 == 0 && len)
            text[(size_t)rand() % len] = '\0';
        char *exact = malloc(len ? len : 1);
        memcpy(exact, text, len);
        parse_all(exact, len);
        free(exact);
    }
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_stat_lines),
        TEST(test_stat_broken),
        TEST(test_meminfo_any_order),
        TEST(test_diskstats),
        TEST(test_disk_names),
        TEST(test_netdev),
        TEST(test_loadavg_and_pressure),
        TEST(test_mountinfo),
        TEST(test_path_decode),
        TEST(test_mount_choice),
        TEST(test_cgroup_lines),
        TEST(test_cgroup_values),
        TEST(test_zpool),
        TEST(test_hostile),
    };
    return CHECK_MAIN(argc, argv, tests);
}
