/* Who uses the GPUs of DRM drivers: every descriptor of one has a page of counters in fdinfo. A client may be
 * open in several descriptors, and in several processes after a fork; it counts once. */
#include "base/cleanup.h"
#include "base/file.h"
#include "gpu/drm_fdinfo.h"
#include "gpu/gpu_drm.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { CLIENTS_MAX = 1 << 14, TEXT_SIZE = 4096, CLASSES_MAX = 24 };

struct client {
    uint32_t device; /* index behind `first` */
    uint64_t id;
    uint64_t round; /* the last that saw it */
    struct trk_drm_engine engine[TRK_DRM_ENGINES_MAX];
    unsigned engine_count;
};

/* How busy a class of engines was kept, by one process or by all. */
struct class_share {
    char name[TRK_DRM_NAME_SIZE];
    uint64_t millionths;
};

struct class_shares {
    struct class_share item[CLASSES_MAX];
    unsigned count;
};

/* Most processes never touch a GPU: one that has none open is left alone for a while. A pid that shares its
 * place with another is looked at more often, and one that is used again is found when the time is over. */
enum { IDLE_PLACES = 4096 };
static const int64_t IDLE_NS = INT64_C(10000000000);

struct idle_place {
    pid_t pid;
    int64_t until_ns;
};

struct trk_drm_clients {
    struct idle_place idle[IDLE_PLACES];
    struct client *client;
    uint32_t count, capacity;
    uint64_t round;
    int64_t read_ns;                   /* of the round before; 0: there was none */
    int64_t elapsed_ns;                /* since then */
    struct class_shares *device_share; /* one a device, over all processes */
    uint64_t *device_memory;
    uint32_t device_capacity;
};

/* One pass. */
struct pass {
    struct trk_drm_clients *clients;
    const struct trk_context *context;
    struct trk_gpu_reading *reading;
    uint32_t first;
    int64_t now_ns;
    bool others_hidden; /* some process outside the job may not be looked into */
    bool member_hidden;
    bool shares_unknown;  /* some client has no share yet */
    bool member_computes; /* the job uses AMD's compute driver, whose work is in no engine's time */
};

int trk__drm_clients_new(struct trk_drm_clients **ret_clients)
{
    *ret_clients = calloc(1, sizeof **ret_clients);
    return *ret_clients ? 0 : -ENOMEM;
}

void trk__drm_clients_free(struct trk_drm_clients *clients)
{
    if (!clients)
        return;
    free(clients->client);
    free(clients->device_share);
    free(clients->device_memory);
    free(clients);
}

/* ---- clients ---- */

static struct client *find_client(struct trk_drm_clients *clients, uint32_t device, uint64_t id,
                                  bool *ret_new)
{
    *ret_new = false;
    for (uint32_t i = 0; i < clients->count; i++)
        if (clients->client[i].id == id && clients->client[i].device == device)
            return &clients->client[i];
    if (clients->count == CLIENTS_MAX)
        return NULL;
    if (clients->count == clients->capacity) {
        uint32_t capacity = clients->capacity ? clients->capacity * 2 : 16;
        struct client *client = realloc(clients->client, capacity * sizeof *client);
        if (!client)
            return NULL;
        clients->client = client;
        clients->capacity = capacity;
    }
    struct client *client = &clients->client[clients->count++];
    *client = (struct client){.device = device, .id = id};
    *ret_new = true;
    return client;
}

static void forget_gone(struct trk_drm_clients *clients)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clients->count; i++)
        if (clients->client[i].round == clients->round)
            clients->client[kept++] = clients->client[i];
    clients->count = kept;
}

/* ---- shares ---- */

static void add_share(struct class_shares *shares, const char *name, uint64_t millionths)
{
    unsigned i = 0;
    while (i < shares->count && strcmp(shares->item[i].name, name) != 0)
        i++;
    if (i == CLASSES_MAX)
        return;
    if (i == shares->count) {
        memcpy(shares->item[i].name, name, TRK_DRM_NAME_SIZE);
        shares->item[shares->count++].millionths = 0;
    }
    shares->item[i].millionths += millionths;
}

/* Classes run side by side, so the busiest one is how busy the GPU was. */
static uint64_t busiest(const struct class_shares *shares)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < shares->count; i++)
        if (shares->item[i].millionths > most)
            most = shares->item[i].millionths;
    return most > 1000000 ? 1000000 : most;
}

static const struct trk_drm_engine *engine_before(const struct client *client, const char *name)
{
    for (unsigned i = 0; i < client->engine_count; i++)
        if (strcmp(client->engine[i].name, name) == 0)
            return &client->engine[i];
    return NULL;
}

/* What the client did since the last pass. One that is new was born since, unless this is the first. */
static bool measure(const struct trk_drm_clients *clients, const struct client *client, bool is_new,
                    const struct trk_drm_client *now, struct class_shares *shares)
{
    bool known = true;
    for (unsigned i = 0; i < now->engine_count; i++) {
        const struct trk_drm_engine *engine = &now->engine[i];
        const struct trk_drm_engine *before = is_new ? NULL : engine_before(client, engine->name);
        uint64_t millionths;
        bool measurable = engine->has_share || (clients->read_ns && (is_new || before));
        if (measurable && trk__drm_engine_share(before, engine, clients->elapsed_ns, &millionths))
            add_share(shares, engine->name, millionths);
        else
            known = false;
    }
    return known;
}

static uint32_t device_at(const struct pass *pass, const char *pci)
{
    uint32_t i = pass->first;
    while (i < pass->reading->device_count && strcmp(pass->reading->device[i].info.pci, pci) != 0)
        i++;
    return i;
}

/* Takes one client; `shares` are those of its process on this device. */
static void take_client(struct pass *pass, const struct trk_drm_client *now, uint32_t device,
                        pid_t pid, struct class_shares *shares)
{
    struct trk_drm_clients *clients = pass->clients;
    bool is_new;
    struct client *client = find_client(clients, device - pass->first, now->id, &is_new);
    if (!client || client->round == clients->round)
        return;
    struct class_shares own = {.count = 0};
    bool known = measure(clients, client, is_new, now, &own);
    client->round = clients->round;
    client->engine_count = now->engine_count;
    memcpy(client->engine, now->engine, sizeof client->engine);

    struct class_shares *all = &clients->device_share[device - pass->first];
    for (unsigned i = 0; i < own.count; i++) {
        add_share(shares, own.item[i].name, own.item[i].millionths);
        add_share(all, own.item[i].name, own.item[i].millionths);
    }
    pass->shares_unknown |= !known;
    clients->device_memory[device - pass->first] += now->memory_bytes;
    struct trk_gpu_process *process = trk__gpu_reading_process(pass->reading, device, pid);
    if (!process)
        return;
    process->listed = true;
    process->memory_known = now->memory_known;
    process->memory_bytes += now->memory_bytes;
    process->share_known = known;
    process->share_millionths = (uint32_t)busiest(shares);
}

/* ---- processes ---- */

enum fd_kind { FD_OTHER, FD_DRM, FD_KFD };

static enum fd_kind kind_of_fd(int dir_fd, const char *name)
{
    static const char drm[] = "/dev/dri/", kfd[] = "/dev/kfd";
    char link[64];
    ssize_t len = readlinkat(dir_fd, name, link, sizeof link);
    if (len >= (ssize_t)sizeof drm && memcmp(link, drm, sizeof drm - 1) == 0)
        return FD_DRM;
    return len == sizeof kfd - 1 && memcmp(link, kfd, sizeof kfd - 1) == 0 ? FD_KFD : FD_OTHER;
}

/* The shares of one process on up to a few devices; more are rare and share the last place. */
struct process_shares {
    uint32_t device[8];
    struct class_shares shares[8];
    unsigned count;
};

static struct class_shares *shares_on(struct process_shares *process, uint32_t device)
{
    for (unsigned i = 0; i < process->count; i++)
        if (process->device[i] == device)
            return &process->shares[i];
    unsigned place = process->count < 8 ? process->count++ : 7;
    process->device[place] = device;
    process->shares[place].count = 0;
    return &process->shares[place];
}

static void look_at_fd(struct pass *pass, pid_t pid, const char *fd_name,
                       struct process_shares *process)
{
    char path[64];
    char text[TEXT_SIZE];
    struct trk_drm_client client;
    snprintf(path, sizeof path, "%d/fdinfo/%.20s", (int)pid, fd_name);
    int len = trk__file_read_small_at(pass->context->proc_fd, path, text, sizeof text);
    if (len <= 0 || !trk__drm_fdinfo_parse(trk__cursor(text, (size_t)len), &client))
        return;
    uint32_t device = device_at(pass, client.pci);
    if (device == pass->reading->device_count)
        return;
    if (!client.has_id) /* before Linux 5.19 some drivers have none: then each descriptor counts */
        client.id = (uint64_t)pid << 32 | (uint32_t)atoi(fd_name);
    take_client(pass, &client, device, pid, shares_on(process, device));
}

static bool is_idle(const struct pass *pass, pid_t pid)
{
    const struct idle_place *place = &pass->clients->idle[pid % IDLE_PLACES];
    return place->pid == pid && pass->now_ns < place->until_ns;
}

static void note_idle(struct pass *pass, pid_t pid)
{
    pass->clients->idle[pid % IDLE_PLACES] =
        (struct idle_place){.pid = pid, .until_ns = pass->now_ns + IDLE_NS};
}

/* What a process computes through KFD shows in no engine: its share is not known. */
static void hide_shares(struct pass *pass, pid_t pid, bool is_member)
{
    for (uint32_t i = 0; i < pass->reading->process_count; i++) {
        struct trk_gpu_process *process = &pass->reading->process[i];
        if (process->pid == pid && process->device >= pass->first)
            process->share_hidden = true;
    }
    pass->member_computes |= is_member;
}

static void look_at_process(struct pass *pass, pid_t pid, bool is_member)
{
    char path[32];
    struct process_shares process;
    process.count = 0;
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(pass->context->proc_fd, path);
    if (!dir) {
        bool hidden = errno == EACCES || errno == EPERM;
        pass->member_hidden |= hidden && is_member;
        pass->others_hidden |= hidden && !is_member;
        return;
    }
    const struct dirent *entry;
    bool computes = false, uses = false;
    while ((entry = readdir(dir))) {
        enum fd_kind kind = isdigit((unsigned char)entry->d_name[0])
                                ? kind_of_fd(trk__dir_fd(dir), entry->d_name)
                                : FD_OTHER;
        if (kind == FD_DRM)
            look_at_fd(pass, pid, entry->d_name, &process);
        computes |= kind == FD_KFD;
        uses |= kind != FD_OTHER;
    }
    if (!uses)
        note_idle(pass, pid);
    if (computes)
        hide_shares(pass, pid, is_member);
}

/* The job first: a client that it shares with its parent outside counts as its own. Then everyone, where it must
 * be known who else is there; returns whether it is. */
static bool look_at_all(struct pass *pass, const struct trk_gpu_question *question, bool everyone)
{
    for (uint32_t i = 0; i < question->member_count; i++)
        look_at_process(pass, question->member[i], true);
    if (!everyone && !pass->member_computes)
        return false;
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(pass->context->proc_fd, ".");
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid > 0 && !trk__gpu_is_member(question, pid) && !is_idle(pass, pid))
            look_at_process(pass, pid, false);
    }
    return dir && !pass->others_hidden && !pass->member_hidden;
}

/* ---- devices ---- */

static bool begin(struct trk_drm_clients *clients, int64_t now_ns, uint32_t devices)
{
    if (devices > clients->device_capacity) {
        struct class_shares *share =
            realloc(clients->device_share, devices * sizeof *clients->device_share);
        if (share)
            clients->device_share = share;
        uint64_t *memory =
            realloc(clients->device_memory, devices * sizeof *clients->device_memory);
        if (memory)
            clients->device_memory = memory;
        if (!share || !memory)
            return false;
        clients->device_capacity = devices;
    }
    for (uint32_t i = 0; i < devices; i++) {
        clients->device_share[i].count = 0;
        clients->device_memory[i] = 0;
    }
    clients->elapsed_ns = now_ns - clients->read_ns;
    clients->round++;
    return true;
}

/* What a device does not tell itself is the sum over its clients, where all of them were seen. */
static void finish_device(const struct pass *pass, uint32_t index, bool complete)
{
    struct trk_gpu_device *device = &pass->reading->device[index];
    const struct trk_drm_clients *clients = pass->clients;
    device->processes_known = !pass->member_hidden;
    device->shares_known = clients->read_ns && !pass->shares_unknown;
    device->users_complete = complete;
    if (!complete)
        return;
    uint64_t users = 0;
    for (uint32_t i = 0; i < pass->reading->process_count; i++)
        users += pass->reading->process[i].device == index;
    trk__gpu_set(device, TRK_GPU_SLOT(PROCESSES), users);
    if (!trk__gpu_has(device, TRK_GPU_SLOT(MEMORY_USED)))
        trk__gpu_set(device, TRK_GPU_SLOT(MEMORY_USED),
                     clients->device_memory[index - pass->first]);
    if (!trk__gpu_has(device, TRK_GPU_SLOT(UTILIZATION)) && device->shares_known)
        trk__gpu_set(device, TRK_GPU_SLOT(UTILIZATION),
                     busiest(&clients->device_share[index - pass->first]));
}

void trk__drm_clients_read(struct trk_drm_clients *clients, const struct trk_context *context,
                           const struct trk_gpu_question *question, bool everyone, uint32_t first,
                           struct trk_gpu_reading *reading)
{
    int64_t now_ns = question->instant.monotonic_ns;
    struct pass pass = {.clients = clients,
                        .context = context,
                        .reading = reading,
                        .first = first,
                        .now_ns = now_ns};
    if (!begin(clients, now_ns, reading->device_count - first))
        return;
    bool complete = look_at_all(&pass, question, everyone);
    for (uint32_t i = first; i < reading->device_count; i++)
        finish_device(&pass, i, complete);
    forget_gone(clients);
    clients->read_ns = now_ns;
}
