#include "gpu/gpu_reach.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>

enum { NVIDIA_MAJOR = 195, ENVIRON_MAX = 128 << 10, LIST_SIZE = 8192, WORD_SIZE = 96 };

/* ---- CUDA_VISIBLE_DEVICES ---- */

static bool is_number(const char *word)
{
    return *word && !word[strspn(word, "0123456789")];
}

/* The device that a word names: its index; UINT32_MAX: none. */
static uint32_t named_device(const char *word, const struct trk_gpu_reading *reading)
{
    if (is_number(word)) {
        unsigned long index = strtoul(word, NULL, 10);
        return index < reading->device_count ? (uint32_t)index : UINT32_MAX;
    }
    for (uint32_t i = 0; i < reading->device_count; i++)
        if (*word && strncasecmp(word, reading->device[i].info.uuid, strlen(word)) == 0)
            return i;
    return UINT32_MAX;
}

int trk__gpu_is_visible(const char *value, const struct trk_gpu_reading *reading, uint32_t device,
                        bool index_is_sure)
{
    bool unsure = false;
    while (*value) {
        char word[WORD_SIZE];
        value += strspn(value, " \t");
        size_t len = strcspn(value, ", \t");
        snprintf(word, sizeof word, "%.*s", (int)len, value);
        uint32_t named = named_device(word, reading);
        if (named == UINT32_MAX)
            break;
        if (is_number(word) && !index_is_sure)
            unsure = true;
        else if (named == device)
            return 1;
        value += len;
        value += strspn(value, ", \t");
    }
    return unsure ? -1 : 0;
}

/* CUDA numbers the fastest first, unless it is told to go by the bus; equal ones go by the bus anyhow. */
static bool all_are_equal(const struct trk_gpu_reading *reading)
{
    for (uint32_t i = 1; i < reading->device_count; i++)
        if (strcmp(reading->device[i].info.name, reading->device[0].info.name) != 0)
            return false;
    return true;
}

/* NULL: it is not set. */
static const char *variable(const struct trk_buffer *environ, const char *name)
{
    size_t len = strlen(name);
    for (size_t at = 0; at < environ->len; at += strlen(environ->data + at) + 1)
        if (strncmp(environ->data + at, name, len) == 0 && environ->data[at + len] == '=')
            return environ->data + at + len + 1;
    return NULL;
}

static int read_environ(const struct trk_context *context, pid_t pid, struct trk_buffer *environ)
{
    char path[32];
    snprintf(path, sizeof path, "%d/environ", (int)pid);
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, environ);
}

struct views {
    uint32_t read;    /* processes of the job whose environment could be read ... */
    uint32_t limited; /* ... and those that have the variable */
    bool unknown;     /* one could not */
};

/* Notes for each device whether the process sees it: `seen` counts those that do, for sure or perhaps. */
static void take_view(const struct trk_gpu_reading *reading, const struct trk_buffer *environ,
                      struct views *views, uint32_t *seen, uint32_t *seen_surely)
{
    const char *value = variable(environ, "CUDA_VISIBLE_DEVICES");
    const char *order = variable(environ, "CUDA_DEVICE_ORDER");
    bool is_sure = (order && strcmp(order, "PCI_BUS_ID") == 0) || all_are_equal(reading);
    views->read++;
    views->limited += value != NULL;
    for (uint32_t i = 0; i < reading->device_count; i++) {
        int visible = value ? trk__gpu_is_visible(value, reading, i, is_sure) : -1;
        seen[i] += visible != 0;
        seen_surely[i] += visible == 1;
    }
}

static void take_views(const struct trk_context *context, const struct trk_gpu_question *question,
                       const struct trk_gpu_reading *reading, struct views *views, uint32_t *seen,
                       uint32_t *seen_surely)
{
    struct trk_buffer environ;
    trk__buffer_init(&environ, ENVIRON_MAX);
    for (uint32_t i = 0; i < question->member_count; i++) {
        int code = read_environ(context, question->member[i], &environ);
        if (code == 0 && environ.len)
            take_view(reading, &environ, views, seen, seen_surely);
        else if (code != -ENOENT && code != -ESRCH)
            views->unknown = true;
    }
    trk__buffer_done(&environ);
}

/* ---- the devices cgroup ---- */

/* "c 195:* rwm", "a *:* rwm" */
static bool line_allows(struct trk_cursor line, int minor)
{
    struct trk_cursor kind, numbers;
    char text[32], own[32], whole[16];
    if (!trk__cursor_word(&line, &kind) || !trk__cursor_word(&line, &numbers))
        return false;
    if (trk__cursor_equals(&kind, "a"))
        return true;
    trk__cursor_copy(&numbers, text, sizeof text);
    snprintf(own, sizeof own, "%d:%d", NVIDIA_MAJOR, minor);
    snprintf(whole, sizeof whole, "%d:*", NVIDIA_MAJOR);
    return trk__cursor_equals(&kind, "c") &&
           (strcmp(text, own) == 0 || strcmp(text, whole) == 0 || strcmp(text, "*:*") == 0);
}

bool trk__gpu_is_allowed(const char *list, int minor)
{
    struct trk_cursor text = trk__cursor(list, strlen(list)), line;
    while (trk__cursor_line(&text, &line))
        if (line_allows(line, minor))
            return true;
    return false;
}

/* The list of the job's first process, else that of the root of what is mounted: a container has it there. */
static int read_list(const struct trk_context *context, pid_t pid, char ret_list[LIST_SIZE])
{
    char name[32], text[4096], path[PATH_MAX];
    snprintf(name, sizeof name, "%d/cgroup", (int)pid);
    int len = trk__file_read_small_at(context->proc_fd, name, text, sizeof text);
    const char *at = len > 0 ? strstr(text, ":devices:") : NULL;
    if (!at)
        return -ENOENT;
    at += sizeof ":devices:" - 1;
    snprintf(path, sizeof path, "sys/fs/cgroup/devices%.*s/devices.list", (int)strcspn(at, "\n"),
             at);
    len = trk__file_read_small_at(context->root_fd, path, ret_list, LIST_SIZE);
    if (len < 0)
        len = trk__file_read_small_at(context->root_fd, "sys/fs/cgroup/devices/devices.list",
                                      ret_list, LIST_SIZE);
    return len;
}

/* ---- both ---- */

static bool has_node(const struct trk_context *context, int minor)
{
    char path[32];
    snprintf(path, sizeof path, "dev/nvidia%d", minor);
    return faccessat(context->root_fd, path, F_OK, 0) == 0;
}

/* Where the driver's nodes are elsewhere none of them says anything. */
static bool has_any_node(const struct trk_context *context, const struct trk_gpu_reading *reading)
{
    for (uint32_t i = 0; i < reading->device_count; i++)
        if (reading->device[i].minor >= 0 && has_node(context, reading->device[i].minor))
            return true;
    return false;
}

void trk__gpu_reach_find(const struct trk_context *context, const struct trk_gpu_question *question,
                         struct trk_gpu_reading *reading)
{
    struct views views = {0};
    uint32_t seen[TRK_GPU_DEVICES_MAX] = {0}, seen_surely[TRK_GPU_DEVICES_MAX] = {0};
    char list[LIST_SIZE];
    if (!question->member_count)
        return;
    take_views(context, question, reading, &views, seen, seen_surely);
    bool has_list = read_list(context, question->member[0], list) > 0;
    bool has_nodes = has_any_node(context, reading);
    for (uint32_t i = 0; i < reading->device_count && i < TRK_GPU_DEVICES_MAX; i++) {
        struct trk_gpu_device *device = &reading->device[i];
        if (!device->pids_are_foreign || device->minor < 0)
            continue;
        bool is_hidden = !views.unknown && views.read && views.limited == views.read && !seen[i];
        device->out_of_reach = is_hidden ||
                               (has_list && !trk__gpu_is_allowed(list, device->minor)) ||
                               (has_nodes && !has_node(context, device->minor));
        device->named_for_job = seen_surely[i] && !device->out_of_reach;
    }
}
