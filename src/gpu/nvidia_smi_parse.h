/* What nvidia-smi prints: CSV of --query-gpu, and the columns of pmon. Columns are found by the names in the
 * header, because versions add and move them. */
#ifndef TRK_GPU_NVIDIA_SMI_PARSE_H
#define TRK_GPU_NVIDIA_SMI_PARSE_H

#include "base/parse.h"

#include <sys/types.h>

enum trk_smi_column {
    TRK_SMI_INDEX,
    TRK_SMI_UUID,
    TRK_SMI_PCI,
    TRK_SMI_NAME,
    TRK_SMI_UTILIZATION,
    TRK_SMI_MEMORY_BUSY,
    TRK_SMI_MEMORY_USED,
    TRK_SMI_MEMORY_TOTAL,
    TRK_SMI_TEMPERATURE,
    TRK_SMI_POWER,
    TRK_SMI_CLOCK,
    TRK_SMI_MEMORY_CLOCK,
    TRK_SMI_COLUMN_COUNT
};

enum trk_pmon_column {
    TRK_PMON_GPU,
    TRK_PMON_PID,
    TRK_PMON_SM,
    TRK_PMON_FB,
    TRK_PMON_COLUMN_COUNT
};

enum { TRK_SMI_PLACES = 32 };

/* At which place a column stands; 0: nowhere, else place + 1. */
struct trk_smi_places {
    unsigned char place[TRK_SMI_COLUMN_COUNT];
};

/* False where the line is not the header of such a table. */
bool trk__smi_header(struct trk_cursor line, struct trk_smi_places *ret_places);
bool trk__pmon_header(struct trk_cursor line, struct trk_smi_places *ret_places);

/* The text of one column in a row of CSV, without blanks around it; false: the row has no such column. */
bool trk__smi_field(struct trk_cursor row, const struct trk_smi_places *places,
                    enum trk_smi_column column, struct trk_cursor *ret_text);

/* "12", "12.34", "12 %" as thousandths; false for "[N/A]" and other words. */
bool trk__smi_thousandths(struct trk_cursor text, uint64_t *ret_value);

struct trk_pmon_row {
    uint32_t gpu;
    pid_t pid;           /* 0: no process uses the GPU */
    uint32_t sm_percent; /* 0 where a dash stands */
    bool memory_known;
    uint64_t memory_mib;
};

/* False for headers and lines that make no sense. */
bool trk__pmon_row(struct trk_cursor line, const struct trk_smi_places *places,
                   struct trk_pmon_row *ret_row);

#endif
