#include "run/store.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/real.h"
#include "platform/os.h"
#include "run/figures.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS_MAX = 1 << 20,
    HEAD_SECONDS = 60, /* in which a run file has got its head, however slow the disk */
    LINES_MAX_BYTES = 1 << 30
};

static const char *const suffixes[] = {".run", ".json.gz", ".rows"};

/* Of a snapshot on a line. */
static const char BEGINNING[] = "{\"metadata\":";

static const char OLD_LINES[] = ".short-", TAKEN_LINES[] = ".taken-";

/* ---- one run in a few words ---------------------------------------------------------- */

static void copy_printable(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%.*s", (int)size - 1, text ? text : "");
    for (char *at = to; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
}

static void copy_command(char *to, size_t size, char *const *words)
{
    size_t len = 0;
    *to = '\0';
    for (char *const *word = words; word && *word && len < size; word++) {
        copy_printable(to + len, size - len, word == words ? "" : " ");
        len += word != words;
        if (len < size)
            copy_printable(to + len, size - len, *word);
        len += strlen(*word);
    }
}

void trk__run_describe(const struct trk_run *run, struct trk_run_info *ret_info)
{
    const struct trk_run_identity *identity = &run->metadata.identity;
    const struct trk_run_outcome *outcome = &run->metadata.outcome;
    struct trk_run_figures figures;
    trk__run_figures(run, &figures);
    *ret_info = (struct trk_run_info){
        .size = sizeof *ret_info,
        .start_time = identity->start_time,
        .wall_seconds = figures.wall_seconds,
        .cpu_seconds = figures.cpu_seconds,
        .peak_memory_bytes = figures.memory_peak_bytes,
        .exit_code = outcome->exit_code,
        .exit_signal = outcome->exit_signal,
        .time_limit_seconds = outcome->time_limit_seconds,
        .kind = identity->kind,
        .ended = outcome->ended,
        .interrupted = run->state == TRK_RUN_INTERRUPTED,
        .running = run->state == TRK_RUN_RUNNING,
        .samples = outcome->samples,
        .is_unknown = run->state == TRK_RUN_UNKNOWN,
        .last_write_time = run->last_write_time,
        .oom_kills = run->totals.oom_kills.value,
    };
    copy_printable(ret_info->id, sizeof ret_info->id, identity->id);
    copy_printable(ret_info->key, sizeof ret_info->key, identity->key);
    copy_printable(ret_info->job_name, sizeof ret_info->job_name, identity->job_name);
    copy_printable(ret_info->host, sizeof ret_info->host, identity->host);
    copy_command(ret_info->command, sizeof ret_info->command, identity->command);
}

/* ---- the list ------------------------------------------------------------------------ */

static struct trk_store_run *add_run(struct trk_store_list *list)
{
    enum { STEP = 256 };
    if (list->count == RUNS_MAX)
        return NULL;
    if (list->count % STEP == 0) {
        void *grown = realloc(list->run, (list->count + STEP) * sizeof *list->run);
        if (!grown)
            return NULL;
        list->run = grown;
    }
    struct trk_store_run *run = &list->run[list->count++];
    *run = (struct trk_store_run){.info.size = sizeof run->info};
    return run;
}

void trk__store_list_done(struct trk_store_list *list)
{
    free(list->run);
    *list = (struct trk_store_list){0};
}

static bool is_id(const char *text, size_t len)
{
    return len > 0 && len < TRK_RUN_ID_SIZE &&
           strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") >= len;
}

/* The length of the id in front of a suffix of ours; 0: another name. */
static size_t id_length(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t tail = strlen(suffixes[i]);
        if (len > tail && strcmp(name + len - tail, suffixes[i]) == 0 && is_id(name, len - tail))
            return len - tail;
    }
    return 0;
}

/* Of a file that cannot be read its folder alone knows something. */
static void describe_damaged(const char *name, const struct stat *status,
                             const struct trk_error *error, struct trk_run_info *info)
{
    info->start_time = (double)trk__os_modified_ns(status) * 1e-9;
    info->wall_seconds = info->cpu_seconds = info->peak_memory_bytes = info->time_limit_seconds =
        info->oom_kills = NAN;
    info->last_write_time = info->start_time;
    info->exit_code = -1;
    size_t len = strlen(name);
    const char *why = strncmp(error->message, name, len) == 0 && error->message[len] == ':'
                          ? error->message + len + 2
                          : error->message;
    copy_printable(info->damage, sizeof info->damage, status->st_size ? why : "the file is empty");
}

/* 0, also where the file is no run (any more), or -ENOMEM. */
static int list_file(int dir_fd, const char *name, struct trk_store_list *list)
{
    struct stat status = {.st_mode = S_IFREG, .st_size = -1};
    struct trk_error error = {0};
    struct trk_run *run = NULL;
    size_t id_len = id_length(name);
    if (!id_len)
        return 0;
    int code = 0;
    if (fstatat(dir_fd, name, &status, 0) < 0)
        code = trk__error_set(&error, -errno, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return 0;
    if (code == 0)
        code = trk__run_load_at(dir_fd, name, TRK_EXTENT_PARTS, &run, &error);
    time_t now = time(NULL);
    if (code == -ENOENT || code == -ESTALE ||
        (code < 0 && status.st_size < 8 && now - status.st_mtime < HEAD_SECONDS &&
         strstr(name, ".run")))
        return 0; /* removed meanwhile, or just being made */
    struct trk_store_run *entry = code == -ENOMEM ? NULL : add_run(list);
    if (!entry) {
        trk__run_free(run);
        return -ENOMEM;
    }
    if (run)
        trk__run_describe(run, &entry->info);
    else
        describe_damaged(name, &status, &error, &entry->info);
    trk__run_free(run);
    snprintf(entry->info.id, sizeof entry->info.id, "%.*s", (int)id_len, name);
    snprintf(entry->file, sizeof entry->file, "%.*s", (int)sizeof entry->file - 1, name);
    entry->info.file_bytes = status.st_size > 0 ? (uint64_t)status.st_size : 0;
    return 0;
}

/* ---- short runs of the release before ------------------------------------------------ */

static int list_line(struct trk_store_list *list, const char *file, uint64_t offset,
                     const char *line, size_t len)
{
    struct trk_run *run = NULL;
    int code = trk__run_snapshot_read(line, len, file, &run, NULL);
    const char *id = run ? run->metadata.identity.id : "";
    struct trk_store_run *entry = code == 0 && is_id(id, strlen(id)) ? add_run(list) : NULL;
    if (entry) {
        trk__run_describe(run, &entry->info);
        snprintf(entry->file, sizeof entry->file, "%.*s", (int)sizeof entry->file - 1, file);
        entry->offset = offset;
        entry->bytes = entry->info.file_bytes = len;
    }
    trk__run_free(run);
    return code < 0 ? code : entry ? 0 : -EBADMSG;
}

/* A line that was cut short by a full disk has the next run behind it: that begins where metadata does. */
static int list_lines(int dir_fd, const char *name, struct trk_store_list *list)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct trk_buffer text;
    trk__buffer_init(&text, LINES_MAX_BYTES);
    int code = fd < 0 ? 0 : trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &text);
    const char *start = text.data ? text.data : "";
    struct trk_cursor cursor = trk__cursor(start, text.len), line;
    while (code == 0 && trk__cursor_line(&cursor, &line)) {
        const char *at = line.at;
        while (at &&
               list_line(list, name, (uint64_t)(at - start), at, (size_t)(line.end - at)) < 0) {
            size_t left = (size_t)(line.end - at);
            at = left > 1 ? memmem(at + 1, left - 1, BEGINNING, sizeof BEGINNING - 1) : NULL;
        }
    }
    trk__buffer_done(&text);
    return code == -ENOMEM ? code : 0;
}

static int newest_first(const void *left, const void *right)
{
    const struct trk_run_info *a = &((const struct trk_store_run *)left)->info;
    const struct trk_run_info *b = &((const struct trk_store_run *)right)->info;
    if (a->start_time != b->start_time)
        return a->start_time < b->start_time ? 1 : -1;
    int order = strcmp(b->id, a->id);
    return order ? order : !!*a->damage - !!*b->damage;
}

/* A run of the release before may have its growing file and its record for a moment: the whole one counts. */
static void drop_twins(struct trk_store_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct trk_store_run *run = &list->run[i];
        struct trk_store_run *last = kept ? &list->run[kept - 1] : NULL;
        if (last && strcmp(last->info.id, run->info.id) == 0) {
            if (strstr(last->file, ".rows"))
                *last = *run;
            continue;
        }
        list->run[kept++] = *run;
    }
    list->count = kept;
}

int trk__store_list(const char *path, struct trk_store_list *ret_list, struct trk_error *error)
{
    struct trk_store_list list = {0};
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(AT_FDCWD, path);
    if (!dir && errno != ENOENT)
        return trk__error_set(error, -errno, "cannot read %s: %s", path, strerror(errno));
    int code = 0, dir_fd = dir ? trk__dir_fd(dir) : -1;
    for (const struct dirent *entry; dir && code == 0 && (entry = readdir(dir));) {
        bool has_lines = strncmp(entry->d_name, OLD_LINES, strlen(OLD_LINES)) == 0 ||
                         strncmp(entry->d_name, TAKEN_LINES, strlen(TAKEN_LINES)) == 0;
        code = has_lines ? list_lines(dir_fd, entry->d_name, &list)
                         : list_file(dir_fd, entry->d_name, &list);
    }
    if (code < 0) {
        trk__store_list_done(&list);
        return trk__error_set(error, code, "cannot read %s: %s", path, strerror(-code));
    }
    if (list.count)
        qsort(list.run, list.count, sizeof *list.run, newest_first);
    drop_twins(&list);
    *ret_list = list;
    return 0;
}

/* ---- finding ------------------------------------------------------------------------- */

/* By its beginning, or by what stands behind its time and differs between any two runs. */
static bool is_meant_by(const char *id, const char *word)
{
    const char *dash = strrchr(id, '-');
    return strncmp(id, word, strlen(word)) == 0 || (dash && strcmp(dash + 1, word) == 0);
}

static int match_last(const struct trk_store_list *list, const struct trk_store_run **ret_run,
                      struct trk_error *error)
{
    const struct trk_store_run *damaged = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct trk_run_info *info = &list->run[i].info;
        if (*info->damage)
            damaged = damaged ? damaged : &list->run[i];
        if (!info->running && !*info->damage) {
            *ret_run = &list->run[i];
            return 0;
        }
    }
    if (damaged)
        return trk__error_set(error, -EBADMSG, "no run can be read; %s: %s", damaged->info.id,
                              damaged->info.damage);
    return trk__error_set(error, -ENOENT,
                          "no run is kept yet; track one: resource-tracker COMMAND");
}

int trk__store_match(const struct trk_store_list *list, const char *word,
                     const struct trk_store_run **ret_run, struct trk_error *error)
{
    const struct trk_store_run *found = NULL;
    size_t matches = 0;
    if (!word)
        return match_last(list, ret_run, error);
    for (size_t i = 0; i < list->count; i++) {
        const char *id = list->run[i].info.id;
        if (!*word || !is_meant_by(id, word))
            continue;
        found = &list->run[i];
        if (strcmp(id, word) == 0) {
            matches = 1;
            break;
        }
        matches++;
    }
    if (!found)
        return trk__error_set(
            error, -ENOENT, "no such run or file: %s; resource-tracker runs lists the runs", word);
    if (matches > 1)
        return trk__error_set(error, -EEXIST, "%zu runs begin with %s; give more of the id",
                              matches, word);
    *ret_run = found;
    return 0;
}

static int load_line(int dir_fd, const struct trk_store_run *run, struct trk_run **ret_run,
                     struct trk_error *error)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, run->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    TRK_CLEANUP_FREE char *line = malloc((size_t)run->bytes + 1);
    ssize_t got = fd < 0 || !line ? -1 : pread(fd, line, (size_t)run->bytes, (off_t)run->offset);
    if (got != (ssize_t)run->bytes)
        return trk__error_set(error, line ? -EBADMSG : -ENOMEM, "%s: cannot be read", run->file);
    return trk__run_snapshot_read(line, (size_t)got, run->info.id, ret_run, error);
}

int trk__store_load(const char *path, const struct trk_store_run *run, enum trk_run_extent extent,
                    struct trk_run **ret_run, struct trk_error *error)
{
    TRK_CLEANUP_FD int dir_fd = trk__os_open_place(AT_FDCWD, path, true);
    if (dir_fd < 0)
        return trk__error_set(error, dir_fd, "%s: %s", path, strerror(-dir_fd));
    int code = run->bytes ? load_line(dir_fd, run, ret_run, error)
                          : trk__run_load_at(dir_fd, run->file, extent, ret_run, error);
    /* A snapshot of another program has no id but the name that it was put here with. */
    if (code == 0 && !*(*ret_run)->metadata.identity.id)
        memcpy((*ret_run)->metadata.identity.id, run->info.id, sizeof run->info.id);
    return code;
}

int trk__store_open(const char *path, const char *word, struct trk_run **ret_run,
                    struct trk_error *error)
{
    struct trk_store_list list;
    const struct trk_store_run *run;
    if (word && (strchr(word, '/') || strcmp(word, "-") == 0 || access(word, F_OK) == 0))
        return trk__run_load(strcmp(word, "-") == 0 ? "/dev/stdin" : word, ret_run, error);
    int code = trk__store_list(path, &list, error);
    if (code < 0)
        return code;
    code = trk__store_match(&list, word, &run, error);
    if (code == 0)
        code = trk__store_load(path, run, TRK_EXTENT_WHOLE, ret_run, error);
    trk__store_list_done(&list);
    return code;
}

/* ---- removing ------------------------------------------------------------------------ */

/* The line of a run in a text of lines that may have changed since it was listed; false: it is gone. */
static bool find_line(const struct trk_buffer *text, const char *id, size_t *ret_from,
                      size_t *ret_to)
{
    char mark[TRK_RUN_ID_SIZE + 16];
    int len = snprintf(mark, sizeof mark, "\"run_id\":\"%s\"", id);
    const char *at = text->len ? memmem(text->data, text->len, mark, (size_t)len) : NULL;
    if (!at)
        return false;
    const char *from = at, *end = memchr(at, '\n', (size_t)(text->data + text->len - at));
    while (from > text->data && from[-1] != '\n' &&
           strncmp(from, BEGINNING, sizeof BEGINNING - 1) != 0)
        from--;
    *ret_from = (size_t)(from - text->data);
    *ret_to = end ? (size_t)(end + 1 - text->data) : text->len;
    return true;
}

/* A line is removed by writing the other lines to a new file. */
static int remove_line(int dir_fd, const struct trk_store_run *run)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, run->file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct trk_buffer text;
    size_t from, to;
    trk__buffer_init(&text, LINES_MAX_BYTES);
    int code = fd < 0 ? -errno : trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &text);
    char name[TRK_STORE_NAME_SIZE + 32];
    snprintf(name, sizeof name, ".new-%s.%d", run->file, (int)getpid());
    if (code == 0 && find_line(&text, run->info.id, &from, &to)) {
        TRK_CLEANUP_FD int out =
            openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        bool is_last = from == 0 && to == text.len;
        code = out < 0 ? -errno : trk__file_write_all(out, text.data, from);
        if (code == 0)
            code = trk__file_write_all(out, text.data + to, text.len - to);
        if (code == 0 && renameat(dir_fd, name, dir_fd, run->file) < 0)
            code = -errno;
        if (code == 0 && is_last && unlinkat(dir_fd, run->file, 0) < 0)
            code = -errno;
    }
    trk__buffer_done(&text);
    return code;
}

int trk__store_remove(const char *path, const struct trk_store_run *run, bool force,
                      struct trk_error *error)
{
    char events[TRK_RUN_ID_SIZE + 16];
    const struct trk_run_info *info = &run->info;
    if (info->running || (info->is_unknown && !force))
        return trk__error_set(error, -EBUSY,
                              info->running
                                  ? "run %s is still running on %s"
                                  : "run %s may still be running on %s; --force removes it",
                              info->id, *info->host ? info->host : "another machine");
    TRK_CLEANUP_FD int dir_fd = trk__os_open_place(AT_FDCWD, path, true);
    int code = dir_fd < 0 ? dir_fd : 0;
    if (code == 0 && run->bytes)
        code = remove_line(dir_fd, run);
    else if (code == 0 && unlinkat(dir_fd, run->file, 0) < 0 && errno != ENOENT && errno != ESTALE)
        code = -errno;
    if (code < 0)
        return trk__error_set(error, code, "cannot remove run %s: %s", info->id, strerror(-code));
    snprintf(events, sizeof events, "%s.events", info->id);
    unlinkat(dir_fd, events, 0);
    return 0;
}
