/* /proc/diskstats: whole disks, each and in sum. */
#include "platform/collector.h"

#include "base/file.h"
#include "platform/linux/device_table.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The unit of the file's sector counts, also on disks with sectors of 4096 bytes:
 * https://docs.kernel.org/block/stat.html */
enum { SECTOR_BYTES = 512 };

enum { READ_BYTES, WRITE_BYTES, READ_OPS, WRITE_OPS };

struct sys_disk {
    const struct trk_context *context;
    struct trk_kept_file file;
    struct trk_buffer text;
    struct trk_device_table disks;
    bool can_judge; /* /sys/block is there: without it a partition looks like a disk */
};

static int sys_disk_open(const struct trk_context *context, void **ret_self)
{
    struct sys_disk *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    trk__kept_file_init(&self->file, context->proc_fd, "diskstats", TRK_FILE_SHORT_RECORDS);
    trk__buffer_init(&self->text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__device_table_init(&self->disks, true);
    *ret_self = self;
    return 0;
}

static void sys_disk_close(void *handle)
{
    struct sys_disk *self = handle;
    if (!self)
        return;
    trk__kept_file_close(&self->file);
    trk__buffer_done(&self->text);
    trk__device_table_done(&self->disks);
    free(self);
}

/* Whole disks have a folder in /sys/block. It is asked once a name, which is one call where listing the
 * folder would be three. */
static bool is_whole_disk(const struct sys_disk *self, const char *name)
{
    char path[sizeof "sys/block/" + TRK_DEVICE_NAME_SIZE];
    snprintf(path, sizeof path, "sys/block/%s", name);
    /* Names with a slash (cciss/c0d0) have a bang in its place there. */
    for (char *c = path + sizeof "sys/block/" - 1; *c; c++)
        if (*c == '/')
            *c = '!';
    return faccessat(self->context->root_fd, path, F_OK, 0) == 0;
}

static void set_disk(struct trk_sample *sample, const struct trk_seen_device *disk,
                     const uint64_t figures[TRK_DEVICE_TOTALS], uint64_t busy_us)
{
    struct trk_device *device = trk__sample_device(sample, TRK_SCOPE_DISK, disk->name, disk->slot);
    if (!device)
        return;
    trk__device_set(device, TRK_M_DISK_READ_BYTES - TRK_M_DISK_READ_BYTES, figures[READ_BYTES]);
    trk__device_set(device, TRK_M_DISK_WRITE_BYTES - TRK_M_DISK_READ_BYTES, figures[WRITE_BYTES]);
    trk__device_set(device, TRK_M_DISK_READ_OPS - TRK_M_DISK_READ_BYTES, figures[READ_OPS]);
    trk__device_set(device, TRK_M_DISK_WRITE_OPS - TRK_M_DISK_READ_BYTES, figures[WRITE_OPS]);
    trk__device_set(device, TRK_M_DISK_BUSY - TRK_M_DISK_READ_BYTES, busy_us);
}

static void take_line(struct sys_disk *self, const struct trk_disk_line *line,
                      struct trk_sample *sample)
{
    bool is_new;
    struct trk_seen_device *disk = trk__device_table_find(&self->disks, line->name, &is_new);
    if (!disk)
        return;
    if (is_new)
        disk->counted = !trk__disk_name_is_virtual(line->name) && is_whole_disk(self, disk->name);
    if (!disk->counted) {
        disk->round = self->disks.round;
        return;
    }
    const uint64_t figures[TRK_DEVICE_TOTALS] = {
        [READ_BYTES] = line->read_sectors * SECTOR_BYTES,
        [WRITE_BYTES] = line->write_sectors * SECTOR_BYTES,
        [READ_OPS] = line->read_ops,
        [WRITE_OPS] = line->write_ops,
    };
    trk__device_table_grow(&self->disks, disk, figures);
    set_disk(sample, disk, figures, line->busy_ms * 1000);
}

static void sys_disk_read(void *handle, struct trk_sample *sample)
{
    struct sys_disk *self = handle;
    /* Container runtimes mask files by an empty one: that is absent too. */
    if (trk__kept_file_read(&self->file, &self->text) < 0 || !self->text.len)
        return;
    sample->read_ns[TRK_SOURCE_DISKSTATS] = trk__context_monotonic_ns(self->context);
    if (!self->can_judge && faccessat(self->context->root_fd, "sys/block", F_OK, 0) < 0)
        return;
    self->can_judge = true;

    struct trk_cursor text = trk__cursor(self->text.data, self->text.len);
    struct trk_disk_line line;
    trk__device_table_begin(&self->disks);
    while (trk__diskstats_next(&text, &line))
        take_line(self, &line, sample);
    trk__sample_set(sample, TRK_M_SYS_DISK_READ_BYTES, self->disks.total[READ_BYTES]);
    trk__sample_set(sample, TRK_M_SYS_DISK_WRITE_BYTES, self->disks.total[WRITE_BYTES]);
    trk__sample_set(sample, TRK_M_SYS_DISK_READ_OPS, self->disks.total[READ_OPS]);
    trk__sample_set(sample, TRK_M_SYS_DISK_WRITE_OPS, self->disks.total[WRITE_OPS]);
}

const struct trk_collector_ops trk__sys_disk_ops = {
    .name = "sys_disk",
    .open = sys_disk_open,
    .read = sys_disk_read,
    .close = sys_disk_close,
};
