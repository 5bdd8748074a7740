/* platform/linux/proc_maps.h and platform/linux/proc_pagemap.h: ranges from text, pages from a fixture and from ourselves. */
#include "check.h"
#include "platform/linux/proc_pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trk_cursor text_of(const char *text)
{
    return trk__cursor(text, strlen(text));
}

static void test_ranges(void)
{
    struct trk_cursor text =
        text_of("55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0                          [heap]\n"
                "7f0000000000-7f0000100000 ---p 00000000 00:00 0 \n"
                "7f1000000000-7f1000400000 rw-s 00000000 00:05 42                         /memfd:x "
                "y (deleted)\n"
                "7f2000000000-7f2000400000 rw-s 00000000 00:01 7                          "
                "/dev/zero (deleted)\n"
                "7f3000000000-7f3000400000 rw-s 00000000 00:0f 7                          "
                "/anon_hugepage (deleted)\n"
                "7ffd0000-7ffd1000 r--p 00000000 00:00 0                                  [vvar]\n"
                "7ffe0000-7ffe1000 r-xp 00001000 fe:00 99 /usr/lib/libc.so.6");
    struct trk_maps_range range;
    CHECK(trk__maps_next(&text, &range));
    CHECK(range.start == 0x55d0c8a00000 && range.end == 0x55d0c8a21000 && !range.is_shmem);
    CHECK(trk__maps_next(&text, &range));
    CHECK(range.start == 0x7f1000000000 && range.is_shmem);
    CHECK(trk__maps_next(&text, &range));
    CHECK(range.start == 0x7f2000000000 && range.is_shmem);
    CHECK(trk__maps_next(&text, &range));
    CHECK(range.start == 0x7ffe0000 && !range.is_shmem);
    CHECK(!trk__maps_next(&text, &range));
}

static void test_torn_ranges(void)
{
    static const char *const torn[] = {"",
                                       "\n\n",
                                       "7f00",
                                       "7f00-",
                                       "7f00-7f01",
                                       "7f00-7f01 rw",
                                       "7f00-7f01 rw-p",
                                       "7f01-7f00 rw-p 0 0:0 0",
                                       "zz-7f01 rw-p 0 0:0 0",
                                       "-7f01 rw-p 0 0:0 0",
                                       "11112222333344445555-7f01 rw-p 0 0:0 0"};
    for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
        struct trk_cursor text = text_of(torn[i]);
        struct trk_maps_range range;
        CHECK(!trk__maps_next(&text, &range));
    }
}

enum { FIXTURE_PID = 77, PAGE_BYTES = 4096, FIRST_PAGE = 16 };

struct fixture {
    char root[64];
    struct trk_context context;
};

static void write_file(const struct fixture *fixture, const char *name, const void *data,
                       size_t size, off_t offset)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", fixture->root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && pwrite(fd, data, size, offset) == (ssize_t)size);
    close(fd);
}

static void fixture_open(struct fixture *fixture, const char *maps)
{
    snprintf(fixture->root, sizeof fixture->root, "/tmp/trk-pagemap-XXXXXX");
    REQUIRE(mkdtemp(fixture->root) != NULL);
    char path[128];
    snprintf(path, sizeof path, "%s/proc", fixture->root);
    CHECK(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/proc/%d", fixture->root, FIXTURE_PID);
    CHECK(mkdir(path, 0700) == 0);
    write_file(fixture, "proc/77/maps", maps, strlen(maps), 0);
    const char *status = "Name:\tjob\nRssShmem:\t   2048 kB\nThreads:\t1\n";
    write_file(fixture, "proc/77/status", status, strlen(status), 0);
    REQUIRE(trk__context_init(&fixture->context, fixture->root, NULL) == 0);
    fixture->context.page_bytes = PAGE_BYTES;
}

static void fixture_close(struct fixture *fixture)
{
    static const char *const names[] = {"proc/77/maps",
                                        "proc/77/status",
                                        "proc/77/pagemap",
                                        "proc/kpagecount",
                                        "proc/77",
                                        "proc",
                                        ""};
    trk__context_done(&fixture->context);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", fixture->root, names[i]);
        remove(path);
    }
}

static void put_entry(const struct fixture *fixture, uint64_t page, uint64_t entry)
{
    write_file(fixture, "proc/77/pagemap", &entry, sizeof entry, (off_t)(page * sizeof entry));
}

/* 40 pages of anonymous memory, half of them shared by four; 8 of shared memory that two map. */
static void test_fixture_sample(void)
{
    struct fixture fixture;
    fixture_open(&fixture, "00010000-00038000 rw-p 00000000 00:00 0\n"
                           "00038000-00040000 rw-s 00000000 00:01 9 /dev/shm/x\n");
    const uint64_t present = 1ull << 63, file = 1ull << 61, exclusive = 1ull << 56;
    for (uint64_t i = 0; i < 40; i++)
        put_entry(&fixture, FIRST_PAGE + i, present | (i % 2 ? exclusive : 0) | 5);
    for (uint64_t i = 40; i < 48; i++)
        put_entry(&fixture, FIRST_PAGE + i, present | file | 6);
    const uint64_t mappings[] = {4, 2};
    write_file(&fixture, "proc/kpagecount", mappings, sizeof mappings, 5 * sizeof mappings[0]);
    struct trk_pagemap_sampler sampler;
    trk__pagemap_sampler_init(&sampler, &fixture.context, 1);
    CHECK(trk__pagemap_sampler_is_complete(&sampler));
    struct trk_page_sample sample;
    CHECK(trk__pagemap_sample(&sampler, FIXTURE_PID, &sample) == 0);
    CHECK_U64(sample.anon.present, 40);
    CHECK_U64(sample.anon.exclusive, 20);
    CHECK_U64(sample.anon.looked_up, 5);
    CHECK_NEAR(sample.anon.mean_share, 0.25, 0);
    CHECK_U64(sample.file.present, 0);
    CHECK_U64(sample.shmem.present, 8);
    CHECK_U64(sample.shmem.exclusive, 0);
    CHECK_NEAR(sample.shmem.mean_share, 0.5, 0);
    CHECK_U64(sample.rss_shmem_bytes, 2048 * 1024);
    CHECK_U64(sample.mapped_pages, 48);
    CHECK(trk__pagemap_sample(&sampler, FIXTURE_PID + 1, &sample) == -ENOENT);
    trk__pagemap_sampler_done(&sampler);
    fixture_close(&fixture);
}

static void test_without_kpagecount(void)
{
    struct fixture fixture;
    fixture_open(&fixture, "00010000-00038000 rw-p 00000000 00:00 0\n");
    put_entry(&fixture, FIRST_PAGE, 1ull << 63);
    struct trk_pagemap_sampler sampler;
    trk__pagemap_sampler_init(&sampler, &fixture.context, 1);
    CHECK(!trk__pagemap_sampler_is_complete(&sampler));
    struct trk_page_sample sample;
    CHECK(trk__pagemap_sample(&sampler, FIXTURE_PID, &sample) == 0);
    CHECK_U64(sample.anon.present, 1);
    CHECK_U64(sample.anon.looked_up, 0);
    trk__pagemap_sampler_done(&sampler);
    fixture_close(&fixture);
}

/* Ourselves: 64 MB of our own in an address space that is mostly reserved. */
static void test_own_pages(void)
{
    const size_t used = 64 << 20, reserved = (size_t)1 << 38;
    char *own = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *empty = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(own != MAP_FAILED);
    memset(own, 1, used);
    struct trk_context context;
    REQUIRE(trk__context_init(&context, NULL, NULL) == 0);
    struct trk_pagemap_sampler sampler;
    trk__pagemap_sampler_init(&sampler, &context, 1);
    struct trk_page_sample sample;
    int r = trk__pagemap_sample(&sampler, getpid(), &sample);
    trk__pagemap_sampler_done(&sampler);
    trk__context_done(&context);
    munmap(own, used);
    if (empty != MAP_FAILED)
        munmap(empty, reserved);
    if (r == -EACCES || r == -EPERM || r == -ENOENT)
        SKIP("this process cannot read its pagemap: %s", strerror(-r));
    REQUIRE(r == 0);
    CHECK(sample.anon.present >= 256);
    CHECK(sample.anon.exclusive > sample.anon.present * 9 / 10);
    CHECK(sample.longest_call_ns > 0);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_ranges),         TEST(test_torn_ranges),
        TEST(test_fixture_sample), TEST(test_without_kpagecount),
        TEST(test_own_pages),
    };
    return CHECK_MAIN(argc, argv, tests);
}
