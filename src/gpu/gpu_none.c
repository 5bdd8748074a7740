/* Whether there is a GPU at all, and the backend for one that no other backend can read. */
#include "gpu/gpu_backend.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static bool has_nvidia_driver_gpu(const struct trk_context *context)
{
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(context->proc_fd, "driver/nvidia/gpus");
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            return true;
    return false;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(left, right);
}

uint32_t trk__gpu_list_nvidia(const struct trk_context *context,
                              char ret_name[][TRK_DEVICE_NAME_SIZE], uint32_t max)
{
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(context->proc_fd, "driver/nvidia/gpus");
    const struct dirent *entry;
    uint32_t count = 0;
    while (dir && count < max && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || len >= TRK_DEVICE_NAME_SIZE)
            continue;
        memcpy(ret_name[count++], entry->d_name, len + 1);
    }
    qsort(ret_name, count, sizeof *ret_name, by_name);
    return count;
}

/* A container may have /dev/nvidia3 alone; the control device is in each, and nothing works without it. */
static bool has_nvidia_node(const struct trk_context *context)
{
    return faccessat(context->root_fd, "dev/nvidiactl", F_OK, 0) == 0;
}

/* Vendors whose render nodes compute; the display adapters of virtual machines do not count. */
static unsigned vendor_of(unsigned long pci_vendor)
{
    switch (pci_vendor) {
    case 0x10de:
        return TRK_GPU_NVIDIA;
    case 0x1002:
        return TRK_GPU_AMD;
    case 0x8086:
        return TRK_GPU_INTEL;
    default:
        return TRK_GPU_NONE;
    }
}

static unsigned vendors_of_render_nodes(const struct trk_context *context)
{
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(context->root_fd, "sys/class/drm");
    const struct dirent *entry;
    unsigned vendors = TRK_GPU_NONE;
    while (dir && (entry = readdir(dir))) {
        char path[sizeof entry->d_name + sizeof "/device/vendor"];
        char text[32];
        if (strncmp(entry->d_name, "renderD", 7) != 0)
            continue;
        snprintf(path, sizeof path, "%s/device/vendor", entry->d_name);
        if (trk__file_read_small_at(trk__dir_fd(dir), path, text, sizeof text) > 0)
            vendors |= vendor_of(strtoul(text, NULL, 16));
    }
    return vendors;
}

unsigned trk__gpu_vendors_here(const struct trk_context *context)
{
    unsigned vendors = vendors_of_render_nodes(context);
    if (!(vendors & TRK_GPU_NVIDIA) && (has_nvidia_node(context) || has_nvidia_driver_gpu(context)))
        vendors |= TRK_GPU_NVIDIA;
    return vendors;
}

static int none_open(const struct trk_context *context, const char *folders, void **ret_self,
                     char ret_reason[TRK_GPU_REASON_SIZE])
{
    (void)context, (void)folders, (void)ret_reason;
    *ret_self = NULL;
    return 0;
}

static void none_read(void *self, const struct trk_gpu_question *question,
                      struct trk_gpu_reading *reading)
{
    (void)self, (void)question;
    reading->incomplete = true;
}

static void none_close(void *self)
{
    (void)self;
}

const struct trk_gpu_backend_ops trk__gpu_none_ops = {
    .name = "none",
    .vendors = TRK_GPU_NVIDIA | TRK_GPU_AMD | TRK_GPU_INTEL,
    .open = none_open,
    .read = none_read,
    .close = none_close,
};
