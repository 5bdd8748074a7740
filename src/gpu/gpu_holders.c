#include "gpu/gpu_holders.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "gpu/gpu_reach.h"
#include "platform/helper_pid.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* N of a link to /dev/nvidiaN; -1 for every other. */
static int minor_of(int dir_fd, const char *name)
{
    static const char prefix[] = "/dev/nvidia";
    char link[64];
    ssize_t len = readlinkat(dir_fd, name, link, sizeof link - 1);
    if (len <= (ssize_t)sizeof prefix - 1 || memcmp(link, prefix, sizeof prefix - 1) != 0)
        return -1;
    link[len] = '\0';
    const char *digits = link + sizeof prefix - 1;
    return isdigit((unsigned char)*digits) ? atoi(digits) : -1;
}

static bool driver_names(struct trk_gpu_reading *reading, uint32_t device, pid_t pid)
{
    for (uint32_t i = 0; i < reading->process_count; i++)
        if (reading->process[i].device == device && reading->process[i].pid == pid)
            return true;
    return false;
}

static void note_holder(struct trk_gpu_reading *reading, int minor, pid_t pid, bool is_member,
                        uint32_t *seen)
{
    for (uint32_t i = 0; i < reading->device_count && i < TRK_GPU_DEVICES_MAX; i++) {
        struct trk_gpu_device *device = &reading->device[i];
        if (!device->pids_are_foreign || device->minor != minor || seen[i / 32] >> (i % 32) & 1)
            continue;
        seen[i / 32] |= UINT32_C(1) << (i % 32);
        device->holders_of_job += is_member;
        device->holders_outside += !is_member;
        if (is_member)
            device->holder = pid;
        device->holders_named += driver_names(reading, i, pid);
    }
}

/* False when a process of ours can't be looked into. */
static bool look_into(const struct trk_context *context, const struct trk_gpu_question *question,
                      pid_t pid, struct trk_gpu_reading *reading)
{
    char path[32];
    uint32_t seen[TRK_GPU_DEVICES_MAX / 32] = {0};
    bool is_member = trk__gpu_is_member(question, pid);
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(context->proc_fd, path);
    if (!dir)
        return errno == ENOENT || errno == ESRCH; /* gone: it holds nothing */
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        int minor = minor_of(trk__dir_fd(dir), entry->d_name);
        if (minor >= 0)
            note_holder(reading, minor, pid, is_member, seen);
    }
    return true;
}

static bool needs_holders(const struct trk_gpu_reading *reading)
{
    for (uint32_t i = 0; i < reading->device_count; i++)
        if (reading->device[i].pids_are_foreign)
            return true;
    return false;
}

void trk__gpu_holders_find(const struct trk_context *context,
                           const struct trk_gpu_question *question, struct trk_gpu_reading *reading)
{
    if (!needs_holders(reading))
        return;
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(context->proc_fd, ".");
    const struct dirent *entry;
    bool known = dir != NULL;
    while (dir && (entry = readdir(dir))) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        /* We have each device open ourselves, to ask the driver. */
        if (pid > 0 && pid != getpid() && !trk__helper_is_ours(pid))
            known &= look_into(context, question, pid, reading);
    }
    if (!known) /* what the job may use is then all that can be told */
        trk__gpu_reach_find(context, question, reading);
    for (uint32_t i = 0; i < reading->device_count; i++) {
        struct trk_gpu_device *device = &reading->device[i];
        device->holders_known = known && device->minor >= 0;
        /* Newer drivers translate: a process that holds the device and is named by its number here. */
        if (device->holders_named)
            device->pids_are_foreign = false;
    }
}
