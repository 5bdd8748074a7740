/* Faults that brought a huge page, as the kernel counts them on the whole machine: no process had more of them since.
 * With them a few faults may stand for much memory. */
#ifndef TRK_ACCOUNT_HUGE_FAULTS_H
#define TRK_ACCOUNT_HUGE_FAULTS_H

#include "base/context.h"
#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRK_HUGE_PATH_SIZE = 96 };

struct trk_huge_faults {
    bool is_open;
    uint64_t page_bytes; /* of a huge page; 0: this kernel has none, or none is allowed */
    struct trk_kept_file count_file;
    char path[TRK_HUGE_PATH_SIZE];
    bool is_vmstat; /* the count is one line of many, and dear: kernels before 6.10 */
    uint64_t count;
};

/* The count as it is now; 0 where there are no huge pages. Opened by the first call. */
uint64_t trk__huge_faults_now(struct trk_huge_faults *huge, const struct trk_context *context);

/* What `faults` of a process may have mapped beyond small pages since the count was `before`. */
uint64_t trk__huge_faults_bytes(const struct trk_huge_faults *huge, uint64_t faults,
                                uint64_t before);

void trk__huge_faults_close(struct trk_huge_faults *huge);

#endif
