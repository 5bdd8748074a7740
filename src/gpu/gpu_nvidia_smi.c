/* NVIDIA GPUs through nvidia-smi, where the program is there and its library is not for us. Two of them are kept
 * running with loops of their own, one for the devices and one for the processes: starting one takes a good
 * part of a second of CPU. */
#include "base/cleanup.h"
#include "gpu/gpu_backend.h"
#include "gpu/nvidia_smi_parse.h"
#include "platform/helper_pid.h"
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { TEXT_SIZE = 32 << 10, GPUS_MAX = 64, USERS_MAX = 1024, ANSWER_LIMIT_MS = 500 };

/* Rows that are older say nothing of now. */
static const int64_t ROW_LIFE_NS = INT64_C(3000000000);
static const uint64_t MIB = 1024 * 1024;

/* A kept program and what of its output is not yet taken. */
struct pipe_reader {
    int fd;     /* -1: it is not running */
    int slot;   /* of the helper table */
    int pid_fd; /* a pid could be another's by now; -1: before Linux 5.3 */
    char text[TEXT_SIZE];
    size_t len;
};

struct row {
    bool known;
    int64_t seen_ns;
    struct trk_gpu_device device;
    bool users_known;
};

struct backend {
    pthread_mutex_t lock; /* of the two pid_fd: they are killed from the loop's thread */
    struct pipe_reader devices, processes;
    struct trk_smi_places device_places, process_places;
    bool device_header, process_header;
    bool answered;
    struct row row[GPUS_MAX];
    struct trk_pmon_row user[USERS_MAX];
    unsigned user_count;
};

/* ---- the programs ---- */

static int start(struct pipe_reader *reader, const char *program, const char *const arguments[])
{
    int ends[2];
    int code = trk__os_pipe(false, ends);
    if (code < 0)
        return code;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pid_t pid;
    code =
        trk__helper_start(program, arguments, trk__os_environment(), ends[1], &reader->slot, &pid);
    close(ends[1]);
    if (code < 0) {
        close(ends[0]);
        return code;
    }
    reader->fd = ends[0];
    reader->pid_fd = trk__os_child_open(pid);
    return 0;
}

/* Ends it at once; without this it would die of its next line, which nobody reads. */
static void kill_program(struct backend *self, struct pipe_reader *reader)
{
    pthread_mutex_lock(&self->lock);
    if (reader->pid_fd >= 0)
        trk__os_child_kill(reader->pid_fd);
    pthread_mutex_unlock(&self->lock);
}

/* Somebody else may have been faster: the process's own reaper takes every child. */
static void reap(struct backend *self, struct pipe_reader *reader)
{
    pthread_mutex_lock(&self->lock);
    TRK_CLEANUP_FD int pid_fd = trk__steal_fd(&reader->pid_fd);
    pthread_mutex_unlock(&self->lock);
    if (reader->fd >= 0)
        close(trk__steal_fd(&reader->fd));
    if (pid_fd >= 0)
        trk__os_child_wait(pid_fd);
    trk__helper_forget(reader->slot);
    reader->slot = -1;
}

/* One read; false when there is nothing more for now. At the end of the output the program is over. */
static bool read_some(struct backend *self, struct pipe_reader *reader)
{
    if (reader->fd < 0)
        return false;
    if (reader->len == sizeof reader->text)
        reader->len = 0; /* a line without an end: no output of this program */
    ssize_t got = read(reader->fd, reader->text + reader->len, sizeof reader->text - reader->len);
    if (got > 0) {
        reader->len += (size_t)got;
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    kill_program(self, reader);
    reap(self, reader);
    return false;
}

/* ---- its lines ---- */

static void set_number(struct trk_cursor line, const struct trk_smi_places *places,
                       enum trk_smi_column column, unsigned slot, uint64_t factor,
                       struct trk_gpu_device *device)
{
    struct trk_cursor text;
    uint64_t thousandths;
    if (trk__smi_field(line, places, column, &text) && trk__smi_thousandths(text, &thousandths) &&
        thousandths < UINT64_MAX / MIB)
        trk__gpu_set(device, slot, factor ? thousandths * factor / 1000 : thousandths);
}

static void set_text(struct trk_cursor line, const struct trk_smi_places *places,
                     enum trk_smi_column column, char *ret_text, size_t size)
{
    struct trk_cursor text;
    if (trk__smi_field(line, places, column, &text))
        trk__cursor_copy(&text, ret_text, size);
}

static void set_identity(struct trk_cursor line, const struct trk_smi_places *places,
                         struct trk_gpu_device *device)
{
    struct trk_gpu_info *info = &device->info;
    unsigned domain, bus, slot;
    char pci[32] = "";
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA");
    snprintf(info->source, sizeof info->source, "nvidia-smi");
    set_text(line, places, TRK_SMI_NAME, info->name, sizeof info->name);
    set_text(line, places, TRK_SMI_UUID, info->uuid, sizeof info->uuid);
    set_text(line, places, TRK_SMI_PCI, pci, sizeof pci);
    if (sscanf(pci, "%x:%x:%x", &domain, &bus, &slot) == 3)
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.0", domain, bus, slot);
}

/* A GPU that fell off the bus has these words in place of figures. */
static bool says_lost(struct trk_cursor line)
{
    static const char words[] = "GPU is lost";
    size_t len = (size_t)(line.end - line.at);
    return len && memmem(line.at, len, words, sizeof words - 1);
}

static void take_device_line(struct backend *self, struct trk_cursor line, int64_t now_ns)
{
    const struct trk_smi_places *places = &self->device_places;
    struct trk_cursor text;
    uint64_t index;
    if (!self->device_header) {
        self->device_header = trk__smi_header(line, &self->device_places);
        return;
    }
    if (!trk__smi_field(line, places, TRK_SMI_INDEX, &text) || !trk__cursor_u64(&text, &index) ||
        index >= GPUS_MAX)
        return;
    struct row *row = &self->row[index];
    struct trk_gpu_device device = {.minor = TRK_GPU_NO_MINOR, .counted = true};
    set_identity(line, places, &device);
    device.lost = says_lost(line);
    set_number(line, places, TRK_SMI_UTILIZATION, TRK_GPU_SLOT(UTILIZATION), 10000, &device);
    set_number(line, places, TRK_SMI_MEMORY_BUSY, TRK_GPU_SLOT(MEMORY_BUSY), 10000, &device);
    set_number(line, places, TRK_SMI_MEMORY_USED, TRK_GPU_SLOT(MEMORY_USED), MIB, &device);
    set_number(line, places, TRK_SMI_MEMORY_TOTAL, TRK_GPU_SLOT(MEMORY_TOTAL), MIB, &device);
    set_number(line, places, TRK_SMI_TEMPERATURE, TRK_GPU_SLOT(TEMPERATURE), 0, &device);
    set_number(line, places, TRK_SMI_POWER, TRK_GPU_SLOT(POWER), 0, &device);
    set_number(line, places, TRK_SMI_CLOCK, TRK_GPU_SLOT(CLOCK), 1000000, &device);
    set_number(line, places, TRK_SMI_MEMORY_CLOCK, TRK_GPU_SLOT(MEMORY_CLOCK), 1000000, &device);
    row->device = device;
    row->known = self->answered = true;
    row->seen_ns = now_ns;
}

static void forget_users(struct backend *self, uint32_t gpu)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < self->user_count; i++)
        if (self->user[i].gpu != gpu)
            self->user[kept++] = self->user[i];
    self->user_count = kept;
}

static bool is_user(const struct backend *self, const struct trk_pmon_row *row)
{
    for (unsigned i = 0; i < self->user_count; i++)
        if (self->user[i].gpu == row->gpu && self->user[i].pid == row->pid)
            return true;
    return false;
}

/* pmon prints round after round without a mark between them: a process that was listed already, or none at
 * all, begins the next one of its GPU. */
static void take_process_line(struct backend *self, struct trk_cursor line)
{
    struct trk_smi_places places;
    struct trk_pmon_row row;
    if (trk__pmon_header(line, &places)) {
        self->process_places = places;
        self->process_header = true;
        return;
    }
    if (!self->process_header || !trk__pmon_row(line, &self->process_places, &row) ||
        row.gpu >= GPUS_MAX)
        return;
    if (!row.pid || is_user(self, &row))
        forget_users(self, row.gpu);
    self->row[row.gpu].users_known = true;
    if (row.pid && self->user_count < USERS_MAX)
        self->user[self->user_count++] = row;
}

/* Takes the whole lines; the rest waits for its end. */
static void take_lines(struct backend *self, struct pipe_reader *reader, int64_t now_ns)
{
    char *start_of_line = reader->text;
    char *newline;
    while ((newline = memchr(start_of_line, '\n',
                             reader->len - (size_t)(start_of_line - reader->text)))) {
        struct trk_cursor line = {.at = start_of_line, .end = newline};
        if (reader == &self->devices)
            take_device_line(self, line, now_ns);
        else
            take_process_line(self, line);
        start_of_line = newline + 1;
    }
    reader->len -= (size_t)(start_of_line - reader->text);
    memmove(reader->text, start_of_line, reader->len);
}

static void drain(struct backend *self, struct pipe_reader *reader, int64_t now_ns)
{
    while (read_some(self, reader))
        take_lines(self, reader, now_ns);
}

/* Until both have said something of the first GPU, or the limit is over. */
static void wait_for_first_answer(struct backend *self, int64_t now_ns)
{
    for (int left_ms = ANSWER_LIMIT_MS; left_ms > 0; left_ms -= 10) {
        drain(self, &self->devices, now_ns);
        drain(self, &self->processes, now_ns);
        if ((self->answered && self->row[0].users_known) || self->devices.fd < 0)
            return;
        struct pollfd none = {.fd = -1};
        poll(&none, 1, 10);
    }
}

/* ---- the backend ---- */

static void add_users(const struct backend *self, uint32_t gpu, struct trk_gpu_reading *reading,
                      uint32_t device)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < self->user_count; i++) {
        const struct trk_pmon_row *row = &self->user[i];
        struct trk_gpu_process *process =
            row->gpu == gpu ? trk__gpu_reading_process(reading, device, row->pid) : NULL;
        if (!process)
            continue;
        process->listed = process->share_known = true;
        process->share_millionths = row->sm_percent * 10000;
        process->memory_known = row->memory_known;
        process->memory_bytes = row->memory_mib * MIB;
        count++;
    }
    trk__gpu_set(&reading->device[device], TRK_GPU_SLOT(PROCESSES), count);
}

static void add_row(struct backend *self, uint32_t gpu, struct trk_gpu_reading *reading)
{
    const struct row *row = &self->row[gpu];
    char name[TRK_DEVICE_NAME_SIZE];
    if (row->device.info.pci[0])
        snprintf(name, sizeof name, "%.31s", row->device.info.pci);
    else
        snprintf(name, sizeof name, "nvidia%u", gpu);
    struct trk_gpu_device *device = trk__gpu_reading_add(reading, name);
    if (!device)
        return;
    uint32_t index = reading->device_count - 1;
    *device = row->device;
    memcpy(device->name, name, sizeof name);
    device->processes_known = device->shares_known =
        row->users_known && self->processes.fd >= 0 && !device->lost;
    if (device->processes_known)
        add_users(self, gpu, reading, index);
}

static void smi_read(void *handle, const struct trk_gpu_question *question,
                     struct trk_gpu_reading *reading)
{
    struct backend *self = handle;
    int64_t now_ns = question->instant.monotonic_ns;
    if (!self->answered)
        wait_for_first_answer(self, now_ns);
    drain(self, &self->devices, now_ns);
    drain(self, &self->processes, now_ns);
    bool fresh = false;
    for (uint32_t i = 0; i < GPUS_MAX; i++)
        fresh |= self->row[i].known && now_ns - self->row[i].seen_ns <= ROW_LIFE_NS;
    if (!fresh) {
        reading->incomplete = true;
        trk__gpu_reading_explain(reading, "NVIDIA GPUs can't be read: nvidia-smi %s",
                                 self->devices.fd < 0 ? "has ended" : "does not answer");
        return;
    }
    for (uint32_t i = 0; i < GPUS_MAX; i++)
        if (self->row[i].known)
            add_row(self, i, reading);
}

static void smi_interrupt(void *handle)
{
    struct backend *self = handle;
    kill_program(self, &self->devices);
    kill_program(self, &self->processes);
}

static void smi_close(void *handle)
{
    struct backend *self = handle;
    if (!self)
        return;
    smi_interrupt(self);
    reap(self, &self->devices);
    reap(self, &self->processes);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static int start_both(struct backend *self, const char *folders)
{
    static const char query[] =
        "--query-gpu=index,uuid,pci.bus_id,utilization.gpu,utilization.memory,memory.used,"
        "memory.total,temperature.gpu,power.draw,clocks.current.sm,clocks.current.memory,name";
    static const char *const devices[] = {"nvidia-smi", query, "--format=csv,nounits",
                                          "-lms",       "500", NULL};
    static const char *const processes[] = {"nvidia-smi", "pmon", "-s", "um", "-d", "1", NULL};
    char program[PATH_MAX];
    int code = trk__helper_find("nvidia-smi", folders, program, sizeof program);
    if (code == 0)
        code = start(&self->devices, program, devices);
    if (code == 0 && start(&self->processes, program, processes) < 0)
        self->processes.fd = -1; /* the devices are worth having alone */
    return code;
}

static int smi_open(const struct trk_context *context, const char *folders, void **ret_self,
                    char ret_reason[TRK_GPU_REASON_SIZE])
{
    (void)context;
    struct backend *self = calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    pthread_mutex_init(&self->lock, NULL);
    self->devices.fd = self->processes.fd = -1;
    self->devices.slot = self->processes.slot = -1;
    self->devices.pid_fd = self->processes.pid_fd = -1;
    int code = start_both(self, folders);
    if (code < 0) {
        snprintf(ret_reason, TRK_GPU_REASON_SIZE,
                 "NVIDIA GPUs can't be read: neither libnvidia-ml.so.1 nor nvidia-smi is here");
        smi_close(self);
        return code;
    }
    *ret_self = self;
    return 0;
}

const struct trk_gpu_backend_ops trk__gpu_nvidia_smi_ops = {
    .name = "nvidia-smi",
    .vendors = TRK_GPU_NVIDIA,
    .pids_are_drivers = true,
    .open = smi_open,
    .read = smi_read,
    .interrupt = smi_interrupt,
    .close = smi_close,
};
