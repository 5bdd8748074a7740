#include "gpu/gpu_drm.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

enum { FILES_MAX = 12, PATH_SIZE = 192, NODES_MAX = 64 };

struct figure_file {
    const struct trk_drm_figure *figure;
    char path[PATH_SIZE]; /* below the device's folder */
    struct trk_kept_file file;
};

struct gpu {
    int dir_fd; /* the device's folder in sysfs */
    char name[TRK_DEVICE_NAME_SIZE];
    struct trk_gpu_info info;
    bool tells_itself; /* utilization and memory are in sysfs */
    struct trk_kept_file power_state;
    struct figure_file file[FILES_MAX];
    unsigned file_count;
};

struct backend {
    const struct trk_context *context;
    struct trk_drm_clients *clients;
    struct gpu *gpu;
    unsigned gpu_count;
};

/* ---- which devices there are ---- */

/* "card*" in a folder: the first entry that begins with card, connectors (card0-DP-1) left out. */
static bool find_entry(int dir_fd, const char *folder, const char *prefix, size_t len,
                       char *ret_name, size_t size)
{
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(dir_fd, folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (strncmp(entry->d_name, prefix, len) == 0 && !strchr(entry->d_name, '-')) {
            snprintf(ret_name, size, "%s", entry->d_name);
            return true;
        }
    return false;
}

/* The figure's path with its star resolved; false: there is no such file. */
static bool resolve(int dir_fd, const char *pattern, char ret_path[PATH_SIZE])
{
    char name[NAME_MAX + 1];
    char folder[PATH_SIZE];
    const char *star = strchr(pattern, '*');
    if (star) {
        const char *start = star;
        while (start > pattern && start[-1] != '/')
            start--;
        snprintf(folder, sizeof folder, "%.*s.", (int)(start - pattern), pattern);
        if (!find_entry(dir_fd, folder, start, (size_t)(star - start), name, sizeof name))
            return false;
        int len = snprintf(ret_path, PATH_SIZE, "%.*s%.64s%s", (int)(start - pattern), pattern,
                           name, star + 1);
        if (len >= PATH_SIZE)
            return false;
    } else {
        snprintf(ret_path, PATH_SIZE, "%s", pattern);
    }
    return faccessat(dir_fd, ret_path, R_OK, 0) == 0;
}

static bool has_figure(const struct gpu *gpu, unsigned slot)
{
    for (unsigned i = 0; i < gpu->file_count; i++)
        if (gpu->file[i].figure->slot == slot)
            return true;
    return false;
}

static void find_files(struct gpu *gpu, const struct trk_drm_figure *figures)
{
    for (const struct trk_drm_figure *figure = figures; figure->path; figure++) {
        struct figure_file *file = &gpu->file[gpu->file_count];
        if (gpu->file_count == FILES_MAX || has_figure(gpu, figure->slot) ||
            !resolve(gpu->dir_fd, figure->path, file->path))
            continue;
        file->figure = figure;
        gpu->file_count++;
    }
    gpu->tells_itself = has_figure(gpu, TRK_GPU_SLOT(UTILIZATION));
}

static void read_word(int dir_fd, const char *path, char *ret_text, size_t size)
{
    if (trk__file_read_small_at(dir_fd, path, ret_text, size) < 0)
        ret_text[0] = '\0';
    ret_text[strcspn(ret_text, "\n")] = '\0';
}

/* "PCI_SLOT_NAME=0000:03:00.0" among others. */
static void read_pci(struct gpu *gpu)
{
    char text[1024];
    char *at;
    if (trk__file_read_small_at(gpu->dir_fd, "uevent", text, sizeof text) > 0 &&
        (at = strstr(text, "PCI_SLOT_NAME="))) {
        at += strlen("PCI_SLOT_NAME=");
        at[strcspn(at, "\n")] = '\0';
        snprintf(gpu->info.pci, sizeof gpu->info.pci, "%.31s", at);
    }
}

static void identify(struct gpu *gpu, const char *node, const char *vendor)
{
    char id[16];
    struct trk_gpu_info *info = &gpu->info;
    snprintf(info->vendor, sizeof info->vendor, "%s", vendor);
    snprintf(info->source, sizeof info->source, "sysfs");
    read_pci(gpu);
    read_word(gpu->dir_fd, "unique_id", info->uuid, sizeof info->uuid);
    read_word(gpu->dir_fd, "product_name", info->name, sizeof info->name);
    if (!info->name[0]) {
        read_word(gpu->dir_fd, "device", id, sizeof id);
        snprintf(info->name, sizeof info->name, "%s GPU %s", vendor, id);
    }
    snprintf(gpu->name, sizeof gpu->name, "%.31s", info->pci[0] ? info->pci : node);
}

/* Adds a render node's device if it is one of ours. */
static void add_node(struct backend *self, int drm_fd, const char *node)
{
    static const struct {
        unsigned long pci;
        const char *name;
        const struct trk_drm_figure *figures;
    } vendors[] = {{0x1002, "AMD", trk__gpu_amd_figures},
                   {0x8086, "Intel", trk__gpu_intel_figures}};
    char path[32 + sizeof "/device"];
    char text[32];
    snprintf(path, sizeof path, "%.31s/device", node);
    TRK_CLEANUP_FD int dir_fd = openat(drm_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || trk__file_read_small_at(dir_fd, "vendor", text, sizeof text) <= 0)
        return;
    unsigned long pci_vendor = strtoul(text, NULL, 16);
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        if (vendors[i].pci != pci_vendor)
            continue;
        struct gpu *gpu = &self->gpu[self->gpu_count++];
        gpu->dir_fd = trk__steal_fd(&dir_fd);
        identify(gpu, node, vendors[i].name);
        find_files(gpu, vendors[i].figures);
        return;
    }
}

static void init_files(struct gpu *gpu)
{
    trk__kept_file_init(&gpu->power_state, gpu->dir_fd, "power/runtime_status",
                        TRK_FILE_ONE_RECORD);
    for (unsigned i = 0; i < gpu->file_count; i++)
        trk__kept_file_init(&gpu->file[i].file, gpu->dir_fd, gpu->file[i].path,
                            TRK_FILE_ONE_RECORD);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* In the order of their numbers, whatever the order of the folder. */
static int list_gpus(struct backend *self)
{
    char node[NODES_MAX][24];
    unsigned count = 0;
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(self->context->root_fd, "sys/class/drm");
    const struct dirent *entry;
    if (!dir)
        return -errno;
    while ((entry = readdir(dir)) && count < NODES_MAX)
        if (strncmp(entry->d_name, "renderD", 7) == 0 && strlen(entry->d_name) < sizeof *node)
            memcpy(node[count++], entry->d_name, strlen(entry->d_name) + 1);
    qsort(node, count, sizeof *node, by_name);
    self->gpu = calloc(count ? count : 1, sizeof *self->gpu);
    if (!self->gpu)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        add_node(self, trk__dir_fd(dir), node[i]);
    assert(self->gpu_count <= count);
    for (unsigned i = 0; i < self->gpu_count; i++)
        init_files(&self->gpu[i]);
    return 0;
}

/* ---- the backend ---- */

static void read_files(struct gpu *gpu, struct trk_gpu_device *device)
{
    for (unsigned i = 0; i < gpu->file_count; i++) {
        struct figure_file *file = &gpu->file[i];
        char text[32];
        int len = trk__kept_file_read_small(&file->file, text, sizeof text);
        /* A GPU that fell off the bus takes its folder with it. */
        device->lost |= len == -ENODEV;
        if (len <= 0)
            continue;
        struct trk_cursor cursor = trk__cursor(text, (size_t)len);
        uint64_t number;
        if (trk__cursor_u64_or_negative(&cursor, &number) &&
            number <= UINT64_MAX / file->figure->factor)
            trk__gpu_set(device, file->figure->slot,
                         number * file->figure->factor / file->figure->divisor);
    }
    if (device->lost)
        device->valid = 0;
}

/* Reading a figure would wake a GPU that sleeps. It does nothing and holds nothing then. */
static bool is_asleep(struct gpu *gpu)
{
    char state[32];
    return trk__kept_file_read_small(&gpu->power_state, state, sizeof state) > 0 &&
           strncmp(state, "suspended", strlen("suspended")) == 0;
}

static void set_asleep(const struct gpu *gpu, struct trk_gpu_device *device)
{
    if (gpu->tells_itself) {
        trk__gpu_set(device, TRK_GPU_SLOT(UTILIZATION), 0);
        trk__gpu_set(device, TRK_GPU_SLOT(MEMORY_USED), 0);
    }
}

static void drm_read(void *handle, const struct trk_gpu_question *question,
                     struct trk_gpu_reading *reading)
{
    struct backend *self = handle;
    uint32_t first = reading->device_count;
    bool everyone = false;
    for (unsigned i = 0; i < self->gpu_count; i++) {
        struct trk_gpu_device *device = trk__gpu_reading_add(reading, self->gpu[i].name);
        if (!device)
            return;
        device->info = self->gpu[i].info;
        everyone |= !self->gpu[i].tells_itself;
        if (is_asleep(&self->gpu[i]))
            set_asleep(&self->gpu[i], device);
        else
            read_files(&self->gpu[i], device);
    }
    if (everyone || question->member_count)
        trk__drm_clients_read(self->clients, self->context, question, everyone, first, reading);
}

static void drm_close(void *handle)
{
    struct backend *self = handle;
    if (!self)
        return;
    for (unsigned i = 0; i < self->gpu_count; i++) {
        for (unsigned f = 0; f < self->gpu[i].file_count; f++)
            trk__kept_file_close(&self->gpu[i].file[f].file);
        trk__kept_file_close(&self->gpu[i].power_state);
        close(self->gpu[i].dir_fd);
    }
    trk__drm_clients_free(self->clients);
    free(self->gpu);
    free(self);
}

static int drm_open(const struct trk_context *context, const char *folders, void **ret_self,
                    char ret_reason[TRK_GPU_REASON_SIZE])
{
    (void)folders;
    struct backend *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    self->context = context;
    int code = trk__drm_clients_new(&self->clients);
    if (code == 0)
        code = list_gpus(self);
    if (code < 0) {
        snprintf(ret_reason, TRK_GPU_REASON_SIZE, "GPUs in /sys/class/drm can't be read: %s",
                 strerror(-code));
        drm_close(self);
        return code;
    }
    *ret_self = self;
    return 0;
}

const struct trk_gpu_backend_ops trk__gpu_drm_ops = {
    .name = "drm",
    .vendors = TRK_GPU_AMD | TRK_GPU_INTEL,
    .open = drm_open,
    .read = drm_read,
    .close = drm_close,
};
