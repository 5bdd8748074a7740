/* The backend for machines without a GPU, where use is 0 and known to be. Where there is one that no other
 * backend reads, the figures stay absent. */
#include "collect/collector.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

struct gpu_none {
    const struct trk_context *context;
    bool has_gpu;
};

static void cleanup_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static DIR *open_dir_at(int dir_fd, const char *path)
{
    int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *dir = fdopendir(fd);
    if (!dir)
        close(fd);
    return dir;
}

static bool has_nvidia_driver_gpu(const struct trk_context *context)
{
    __attribute__((cleanup(cleanup_dir))) DIR *dir =
        open_dir_at(context->proc_fd, "driver/nvidia/gpus");
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            return true;
    return false;
}

/* Vendors whose render nodes compute; the display adapters of virtual machines do not count. */
static bool vendor_makes_gpus(unsigned long vendor)
{
    enum { NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086 };
    return vendor == NVIDIA || vendor == AMD || vendor == INTEL;
}

static bool has_render_node(const struct trk_context *context)
{
    __attribute__((cleanup(cleanup_dir))) DIR *dir = open_dir_at(context->root_fd, "sys/class/drm");
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[sizeof entry->d_name + sizeof "/device/vendor"];
        char text[32];
        if (strncmp(entry->d_name, "renderD", 7) != 0)
            continue;
        snprintf(path, sizeof path, "%s/device/vendor", entry->d_name);
        if (trk__file_read_small_at(dirfd(dir), path, text, sizeof text) > 0 &&
            vendor_makes_gpus(strtoul(text, NULL, 16)))
            return true;
    }
    return false;
}

static bool has_gpu(const struct trk_context *context)
{
    return faccessat(context->root_fd, "dev/nvidia0", F_OK, 0) == 0 ||
           has_nvidia_driver_gpu(context) || has_render_node(context);
}

static int gpu_none_open(const struct trk_context *context, void **ret_self)
{
    struct gpu_none *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    self->has_gpu = has_gpu(context);
    *ret_self = self;
    return 0;
}

static void gpu_none_read(void *handle, struct trk_sample *sample)
{
    static const enum trk_metric metrics[] = {
        TRK_M_PROC_GPU_USAGE, TRK_M_PROC_GPU_VRAM, TRK_M_PROC_GPU_UTILIZED,
        TRK_M_SYS_GPU_USAGE,  TRK_M_SYS_GPU_VRAM,  TRK_M_SYS_GPU_UTILIZED,
    };
    const struct gpu_none *self = handle;
    if (self->has_gpu)
        return;
    sample->read_ns[TRK_SOURCE_GPU] = trk__context_monotonic_ns(self->context);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        trk__sample_set(sample, metrics[i], 0);
}

static void gpu_none_close(void *handle)
{
    free(handle);
}

const struct trk_collector_ops trk__gpu_none_ops = {
    .name = "gpu_none",
    .open = gpu_none_open,
    .read = gpu_none_read,
    .close = gpu_none_close,
};
