/* Memory that faults brought in huge pages, as the kernel counts them on the whole machine: no process had more of it
 * since. With them a few faults may stand for much memory.
 *
 * Pages are huge in several sizes: the one that a page table maps (2 MiB with pages of 4 KiB, 512 MiB with 64 KiB) and,
 * from Linux 6.8 on, smaller ones (mTHP). See Documentation/admin-guide/mm/transhuge.rst. */
#ifndef TRK_LINUX_HUGE_FAULTS_H
#define TRK_LINUX_HUGE_FAULTS_H

#include "base/context.h"
#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRK_HUGE_PATH_SIZE = 96, TRK_HUGE_SIZES_MAX = 16 };

struct trk_huge_size {
    uint64_t page_bytes;
    uint64_t count; /* of faults that brought one */
    char path[TRK_HUGE_PATH_SIZE];
    struct trk_kept_file count_file;
};

struct trk_huge_faults {
    bool is_open;
    bool is_vmstat; /* the count is one line of many, and expensive: kernels before 6.10 */
    unsigned size_count;
    struct trk_huge_size size[TRK_HUGE_SIZES_MAX]; /* those that are allowed */
    uint64_t largest_bytes;                        /* of them; 0: there are none */
    uint64_t bytes; /* that all these faults have brought, up to the last read */
};

/* `bytes` as it is now; 0 where there are no huge pages. Opened by the first call. */
uint64_t trk__huge_faults_now(struct trk_huge_faults *huge, const struct trk_context *context);

void trk__huge_faults_close(struct trk_huge_faults *huge);

#endif
