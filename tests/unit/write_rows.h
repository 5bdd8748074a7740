/* Rows with known values for the tests of writers. */
#ifndef TRK_TESTS_WRITE_ROWS_H
#define TRK_TESTS_WRITE_ROWS_H

#include "metric/derive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static inline void row_init(struct trk_row *row)
{
    *row = (struct trk_row){.elapsed_seconds = 1};
    for (unsigned i = 0; i < TRK_METRIC_COUNT; i++)
        row->value[i] = NAN;
}

static inline void row_add_device(struct trk_row *row, enum trk_scope scope, const char *name,
                                  double seed)
{
    struct trk_device_rows *devices = &row->devices[scope - TRK_SCOPE_DEVICE_FIRST];
    if (devices->count == devices->capacity) {
        devices->capacity = devices->capacity ? 2 * devices->capacity : 4;
        devices->item = realloc(devices->item, devices->capacity * sizeof *devices->item);
        if (!devices->item)
            abort();
    }
    struct trk_device_row *device = &devices->item[devices->count++];
    snprintf(device->name, sizeof device->name, "%s", name);
    for (unsigned i = 0; i < TRK_DEVICE_METRICS_MAX; i++)
        device->value[i] = seed + i * 0.0625;
}

/* Every scalar gets a value of its own, so that two columns that change places are seen. */
static inline void row_fill(struct trk_row *row, unsigned step)
{
    row_init(row);
    for (unsigned i = 0; i < TRK_METRIC_COUNT; i++)
        switch (trk__metrics[i].unit) {
        case TRK_UNIT_BYTES:
            row->value[i] = (i + 1) * 1024.0 * (1000 + step) * 1021;
            break;
        case TRK_UNIT_COUNT:
            row->value[i] = i + 10 * step;
            break;
        default:
            row->value[i] = (i + 1) / 64.0 + step;
            break;
        }
    row->value[TRK_M_TIMESTAMP] = 1741785685.6762981 + step;
    row_add_device(row, TRK_SCOPE_CORE, "cpu0", 0.25);
    row_add_device(row, TRK_SCOPE_CORE, "cpu1", 0.5);
    row_add_device(row, TRK_SCOPE_DISK, "nvme0n1", 4096);
    row_add_device(row, TRK_SCOPE_NET, "eth\"0", 100);
}

/* The second line of the first README's example. */
static inline void row_fill_example(struct trk_row *row)
{
    row_init(row);
    double *value = row->value;
    value[TRK_M_TIMESTAMP] = 1741785685.6762981;
    value[TRK_M_SYS_FORKS_TOTAL] = 1147955;
    value[TRK_M_SYS_UTIME] = 0.40;
    value[TRK_M_SYS_STIME] = 0.31;
    value[TRK_M_SYS_CPU] = 0.70984;
    value[TRK_M_SYS_MEM_FREE] = 37828072 * 1024.0;
    value[TRK_M_SYS_MEM_USED_PLAIN] = 26322980 * 1024.0;
    value[TRK_M_SYS_MEM_BUFFERS] = 16 * 1024.0;
    value[TRK_M_SYS_MEM_CACHED_PLAIN] = 1400724 * 1024.0;
    value[TRK_M_SYS_MEM_ACTIVE_ANON] = 13080320 * 1024.0;
    value[TRK_M_SYS_MEM_INACTIVE_ANON] = 1009284 * 1024.0;
    value[TRK_M_SYS_DISK_READ_BYTES] = 86016;
    value[TRK_M_SYS_DISK_WRITE_BYTES] = 401408;
    value[TRK_M_SYS_SPACE_TOTAL] = 5635.2512 * 1024 * 1024 * 1024;
    value[TRK_M_SYS_SPACE_USED] = 3405.8123 * 1024 * 1024 * 1024;
    value[TRK_M_SYS_SPACE_FREE] = 2229.4389 * 1024 * 1024 * 1024;
    value[TRK_M_SYS_NET_RECV_BYTES] = 10382;
    value[TRK_M_SYS_NET_SENT_BYTES] = 13140;
    value[TRK_M_SYS_GPU_USAGE] = 0.24;
    value[TRK_M_SYS_GPU_VRAM] = 1034.0 * 1024 * 1024;
    value[TRK_M_SYS_GPU_UTILIZED] = 1;
}

#endif
