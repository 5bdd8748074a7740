#include "snapshot/store.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/real.h"
#include "platform/os.h"
#include "snapshot/recorder.h"
#include "snapshot/short_runs.h"
#include "snapshot/store_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char RECORD_SUFFIX[] = ".json.gz";
static const char ROWS_SUFFIX[] = ".rows";

enum {
    RUNS_MAX = 1 << 20,
    ROWS_HEAD_SECONDS = 60 /* in which the growing file has got its head, however slow the disk */
};

/* The id in front of a suffix; false where the name has another. */
static bool take_id(const char *name, const char *suffix, char ret_id[TRK_RUN_ID_SIZE])
{
    size_t len = strlen(name), tail = strlen(suffix);
    if (name[0] == '.' || len <= tail || len - tail >= TRK_RUN_ID_SIZE ||
        strcmp(name + len - tail, suffix) != 0)
        return false;
    memcpy(ret_id, name, len - tail);
    ret_id[len - tail] = '\0';
    return true;
}

static struct trk_run_info *add_run(struct trk_store_list *list)
{
    enum { STEP = 256 };
    if (list->count == RUNS_MAX)
        return NULL;
    if (list->count % STEP == 0) {
        void *grown = realloc(list->run, (list->count + STEP) * sizeof *list->run);
        if (!grown) {
            list->failure = -ENOMEM;
            return NULL;
        }
        list->run = grown;
    }
    struct trk_run_info *run = &list->run[list->count++];
    *run = (struct trk_run_info){.size = sizeof *run};
    return run;
}

void trk__store_list_done(struct trk_store_list *list)
{
    free(list->run);
    *list = (struct trk_store_list){0};
}

/* ---- what a folder holds ------------------------------------------------------------- */

/* Of a file that can't be read its folder alone knows something. */
static void describe_damaged(const struct stat *status, struct trk_run_info *run)
{
    run->start_time = (double)trk__os_modified_ns(status) * 1e-9;
    run->wall_seconds = run->cpu_seconds = run->peak_memory_bytes = run->time_limit_seconds = NAN;
    run->exit_code = -1;
    run->file_bytes = (uint64_t)status->st_size;
}

/* "NAME: why" as the why alone, which stands beside the name in a list. */
static void keep_why(const char *name, const struct trk_error *error, struct trk_run_info *run)
{
    size_t len = strlen(name);
    const char *why = strncmp(error->message, name, len) == 0 && error->message[len] == ':'
                          ? error->message + len + 2
                          : error->message;
    snprintf(run->damage, sizeof run->damage, "%.*s", (int)sizeof run->damage - 1,
             run->file_bytes ? why : "the file is empty");
}

/* NULL with the run's damage; without one it is gone. */
static struct trk_snapshot *open_head(int dir_fd, const char *name, struct trk_run_info *run)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct trk_snapshot *head = NULL;
    struct trk_error error = {0};
    if (fd < 0) {
        if (errno != ENOENT && errno != ESTALE)
            snprintf(run->damage, sizeof run->damage, "%s", strerror(errno));
        return NULL;
    }
    if (trk__snapshot_read_head(fd, name, TRK_REST_UNPACKED, &head, &error) < 0) {
        keep_why(name, &error, run);
        return NULL;
    }
    if (trk__snapshot_get(head, "metadata"))
        return head;
    snprintf(run->damage, sizeof run->damage, "not a snapshot");
    trk__snapshot_free(head);
    return NULL;
}

static void list_record(int dir_fd, const char *name, const char *id, struct trk_store_index *index,
                        struct trk_store_list *list)
{
    struct stat status;
    if (fstatat(dir_fd, name, &status, 0) < 0) {
        if (errno != ENOENT &&
            errno != ESTALE) /* removed meanwhile, on a network file system too */
            list->failure = -errno;
        return;
    }
    if (!S_ISREG(status.st_mode))
        return;
    struct trk_run_info *run = add_run(list);
    if (!run)
        return;
    snprintf(run->id, sizeof run->id, "%s", id);
    run->file_bytes = (uint64_t)status.st_size;
    if (trk__store_index_find(index, run))
        return;
    struct trk_snapshot *head = open_head(dir_fd, name, run);
    if (!head) {
        if (*run->damage)
            describe_damaged(&status, run);
        else
            list->count--;
        return;
    }
    trk__store_describe(head, run);
    if (head->failure) {
        describe_damaged(&status, run);
        snprintf(run->damage, sizeof run->damage, "%s", strerror(-head->failure));
    }
    trk__snapshot_free(head);
    index->is_stale = true;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A file without a head may be one that is just being made. */
static void list_damaged_rows(int dir_fd, const char *name, const char *id, int code,
                              struct trk_store_list *list)
{
    struct stat status;
    if (fstatat(dir_fd, name, &status, 0) < 0 ||
        now_seconds() - (double)status.st_mtime < ROWS_HEAD_SECONDS)
        return;
    struct trk_run_info *run = add_run(list);
    if (!run)
        return;
    snprintf(run->id, sizeof run->id, "%s", id);
    describe_damaged(&status, run);
    snprintf(run->damage, sizeof run->damage, "%s",
             code == -EBADMSG ? "not rows of a run" : strerror(-code));
}

static bool has_record(int dir_fd, const char *id)
{
    char name[TRK_RUN_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s%s", id, RECORD_SUFFIX);
    return faccessat(dir_fd, name, F_OK, 0) == 0;
}

/* A run that goes on, or one whose tracker is gone and whose record can't be written: the disk is full, say.
 * False where it has its record by now, because it ended meanwhile. */
static bool describe_growing(const char *path, int dir_fd, struct trk_rows_reader *reader,
                             const struct stat *status, struct trk_run_info *run)
{
    int code = trk__record_is_alive(reader->json, (double)status->st_mtime)
                   ? -EBUSY
                   : trk__store_recover(path, run->id, NULL);
    if (code != -EBUSY && has_record(dir_fd, run->id))
        return false;
    if (code < 0 && code != -EBUSY) {
        describe_damaged(status, run);
        snprintf(run->damage, sizeof run->damage, "interrupted, and can't be recovered: %s",
                 strerror(-code));
        return true;
    }
    struct trk_snapshot *head = NULL;
    if (trk__snapshot_parse(reader->json, strlen(reader->json), path, &head, NULL) == 0)
        trk__store_describe(head, run);
    trk__snapshot_free(head);
    run->running = true;
    run->wall_seconds = trk__fmax(now_seconds() - run->start_time, 0);
    run->file_bytes = (uint64_t)status->st_size;
    int64_t rows = trk__rows_reader_count(reader);
    run->samples = rows > 0 ? (uint64_t)rows : 0;
    return true;
}

/* False where the run has its record by now. */
static bool list_growing(const char *path, int dir_fd, const char *id, struct trk_store_list *list)
{
    struct trk_rows_reader reader;
    struct stat status;
    char name[TRK_RUN_ID_SIZE + 16];
    bool is_growing = true;
    snprintf(name, sizeof name, "%s%s", id, ROWS_SUFFIX);
    int code = trk__rows_reader_open(&reader, dir_fd, name);
    if (code < 0) {
        if (has_record(dir_fd, id))
            return false;
        list_damaged_rows(dir_fd, name, id, code, list);
        return true;
    }
    struct trk_run_info *run = fstat(reader.fd, &status) == 0 ? add_run(list) : NULL;
    if (run) {
        snprintf(run->id, sizeof run->id, "%s", id);
        is_growing = describe_growing(path, dir_fd, &reader, &status, run);
        if (!is_growing)
            list->count--;
    }
    trk__rows_reader_close(&reader);
    return is_growing;
}

static bool is_listed(const struct trk_store_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->run[i].id, id) == 0)
            return true;
    return false;
}

/* Ids of the runs that had a growing file when the folder was read. */
struct growing_runs {
    char (*id)[TRK_RUN_ID_SIZE];
    size_t count;
};

static void note_growing(struct growing_runs *growing, const char *id)
{
    enum { STEP = 64 };
    if (growing->count % STEP == 0) {
        void *grown = realloc(growing->id, (growing->count + STEP) * sizeof *growing->id);
        if (!grown)
            return;
        growing->id = grown;
    }
    snprintf(growing->id[growing->count++], TRK_RUN_ID_SIZE, "%s", id);
}

/* Killed runs become records before the list is made. */
static void recover_all(const char *path, DIR *dir, struct growing_runs *growing)
{
    char id[TRK_RUN_ID_SIZE];
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (take_id(entry->d_name, ROWS_SUFFIX, id)) {
            note_growing(growing, id);
            trk__store_recover(path, id, NULL);
        }
    rewinddir(dir);
}

/* After the records: a run that ends meanwhile gets its record before it loses its growing file, and readdir may show
 * both of them or neither. Each id is listed once. */
static void list_all_growing(const char *path, int dir_fd, const struct growing_runs *growing,
                             struct trk_store_index *index, struct trk_store_list *list)
{
    for (size_t i = 0; i < growing->count; i++) {
        const char *id = growing->id[i];
        if (is_listed(list, id) ||
            (!has_record(dir_fd, id) && list_growing(path, dir_fd, id, list)))
            continue;
        char name[TRK_RUN_ID_SIZE + 16];
        snprintf(name, sizeof name, "%s%s", id, RECORD_SUFFIX);
        list_record(dir_fd, name, id, index, list);
    }
}

static int newest_first(const void *left, const void *right)
{
    const struct trk_run_info *a = left, *b = right;
    if (a->start_time != b->start_time)
        return a->start_time < b->start_time ? 1 : -1;
    return strcmp(b->id, a->id);
}

int trk__store_list(const char *path, struct trk_store_list *ret_list, struct trk_error *error)
{
    struct trk_store_list list = {0};
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(AT_FDCWD, path);
    if (!dir && errno != ENOENT)
        return trk__error_set(error, -errno, "can't read %s: %s", path, strerror(errno));
    if (!dir) {
        *ret_list = list;
        return 0;
    }
    struct growing_runs growing = {0};
    trk__short_runs_expand(path);
    recover_all(path, dir, &growing);
    struct trk_store_index index;
    trk__store_index_load(&index, path);
    char id[TRK_RUN_ID_SIZE];
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (take_id(entry->d_name, RECORD_SUFFIX, id))
            list_record(trk__dir_fd(dir), entry->d_name, id, &index, &list);
        else if (take_id(entry->d_name, ROWS_SUFFIX, id))
            note_growing(&growing, id);
    }
    list_all_growing(path, trk__dir_fd(dir), &growing, &index, &list);
    free(growing.id);
    if (list.count)
        qsort(list.run, list.count, sizeof *list.run, newest_first);
    trk__store_index_save(&index, path, &list);
    trk__store_index_done(&index);
    if (list.failure) {
        int code = list.failure;
        trk__store_list_done(&list);
        return trk__error_set(error, code, "can't read %s: %s", path, strerror(-code));
    }
    *ret_list = list;
    return 0;
}

/* ---- finding ------------------------------------------------------------------------- */

/* Says why there is none: none is kept, or none that is kept can be read. `what`: "" or " of a job". */
static int no_run(const struct trk_store_list *list, const char *what, struct trk_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (*list->run[i].damage)
            return trk__error_set(error, -EBADMSG, "no run can be read; %s: %s", list->run[i].id,
                                  list->run[i].damage);
    return trk__error_set(error, -ENOENT,
                          "no run%s is kept yet; track one: resource-tracker COMMAND", what);
}

int trk__store_find(const char *path, const char *key, size_t max, char ***ret_paths,
                    struct trk_error *error)
{
    struct trk_store_list list;
    char kept_key[TRK_RUN_KEY_SIZE];
    int code = trk__store_list(path, &list, error);
    if (code < 0)
        return code;
    if (key)
        trk__store_key_of_text(key, kept_key);
    char **paths = calloc(max + 1, sizeof *paths);
    size_t count = 0;
    for (size_t i = 0; paths && i < list.count && count < max; i++) {
        const struct trk_run_info *run = &list.run[i];
        if (run->running || *run->damage || run->kind == TRK_RUN_SYSTEM ||
            (key && strcmp(run->key, kept_key) != 0))
            continue;
        if (asprintf(&paths[count], "%s/%s%s", path, run->id, RECORD_SUFFIX) < 0) {
            paths[count] = NULL;
            code = trk__error_set(error, -ENOMEM, "no memory for the list of runs");
            break;
        }
        count++;
    }
    if (paths && !count && !key && code == 0)
        code = no_run(&list, " of a job", error);
    trk__store_list_done(&list);
    if (!paths)
        return trk__error_set(error, -ENOMEM, "no memory for the list of runs");
    if (code < 0) {
        for (size_t i = 0; i < count; i++)
            free(paths[i]);
        free(paths);
        return code;
    }
    *ret_paths = paths;
    return (int)count;
}

/* By its beginning, or by what stands behind its time and differs between any two runs. */
static bool is_meant_by(const char *id, const char *run)
{
    const char *dash = strrchr(id, '-');
    return strncmp(id, run, strlen(run)) == 0 || (dash && strcmp(dash + 1, run) == 0);
}

static const struct trk_run_info *match_id(const struct trk_store_list *list, const char *run,
                                           size_t *ret_matches)
{
    const struct trk_run_info *found = NULL;
    *ret_matches = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_meant_by(list->run[i].id, run))
            continue;
        if (strcmp(list->run[i].id, run) == 0) {
            *ret_matches = 1;
            return &list->run[i];
        }
        found = &list->run[i];
        ++*ret_matches;
    }
    return found;
}

static const struct trk_run_info *last_ended(const struct trk_store_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->run[i].running && !*list->run[i].damage)
            return &list->run[i];
    return NULL;
}

/* The growing file is all that there is of a run that goes on, and of one that could not be recovered. */
static void path_of(const char *path, const struct trk_run_info *run,
                    char ret_path[TRK_STORE_PATH_SIZE])
{
    snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s/%s%s", path, run->id, RECORD_SUFFIX);
    if (run->running || (*run->damage && access(ret_path, F_OK) < 0))
        snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s/%s%s", path, run->id, ROWS_SUFFIX);
}

int trk__store_resolve(const char *path, const char *run, char ret_path[TRK_STORE_PATH_SIZE],
                       struct trk_error *error)
{
    if (run && (strchr(run, '/') || access(run, F_OK) == 0)) {
        if (strlen(run) >= TRK_STORE_PATH_SIZE)
            return trk__error_set(error, -ENAMETOOLONG, "%.80s...: the name is too long", run);
        strcpy(ret_path, run);
        return 0;
    }
    struct trk_store_list list;
    int code = trk__store_list(path, &list, error);
    if (code < 0)
        return code;
    size_t matches = 1;
    const struct trk_run_info *found = run ? match_id(&list, run, &matches) : last_ended(&list);
    if (!found)
        code = run ? trk__error_set(error, -ENOENT,
                                    "no run is called %s, and no file; resource-tracker runs "
                                    "lists them",
                                    run)
                   : no_run(&list, "", error);
    else if (matches > 1)
        code = trk__error_set(error, -EEXIST, "%zu runs are meant by %s; give more of the id",
                              matches, run);
    else
        path_of(path, found, ret_path);
    trk__store_list_done(&list);
    return code;
}

/* ---- removing and recovering --------------------------------------------------------- */

static int unlink_one(const char *path, const char *id, const char *suffix)
{
    char name[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s/%s%s", path, id, suffix);
    if (unlink(name) == 0 || errno == ENOENT || errno == ESTALE)
        return 0;
    return -errno;
}

void trk__store_drop_traces(const char *path, const char *id)
{
    unlink_one(path, id, ROWS_SUFFIX);
    unlink_one(path, id, ".events");
}

int trk__store_remove(const char *path, const char *id, struct trk_error *error)
{
    int code = unlink_one(path, id, RECORD_SUFFIX);
    if (code < 0)
        return trk__error_set(error, code, "can't remove run %s: %s", id, strerror(-code));
    trk__store_drop_traces(path, id);
    return 0;
}

int trk__store_take_events(const char *path, const char *id, struct trk_snapshot *snapshot)
{
    char name[TRK_RUN_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s.events", id);
    return trk__store_read_events(path, name, snapshot);
}

int trk__store_read_events(const char *folder, const char *file, struct trk_snapshot *snapshot)
{
    enum { EVENTS_MAX_BYTES = 16 << 20 };
    char name[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s/%s", folder, file);
    TRK_CLEANUP_FD int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return trk__snapshot_set(snapshot, "events", "[]");
    struct trk_buffer lines, list;
    trk__buffer_init(&lines, EVENTS_MAX_BYTES);
    trk__buffer_init(&list, EVENTS_MAX_BYTES);
    int code = trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &lines);
    struct trk_cursor cursor = trk__cursor(lines.data ? lines.data : "", lines.len), line;
    trk__buffer_add_char(&list, '[');
    while (code == 0 && trk__cursor_line(&cursor, &line)) {
        /* A line that is no object is half a write of a process that was killed in it. */
        if (line.end - line.at < 2 || line.at[0] != '{' || line.end[-1] != '}')
            continue;
        if (list.len > 1)
            trk__buffer_add_char(&list, ',');
        trk__buffer_add(&list, line.at, (size_t)(line.end - line.at));
    }
    trk__buffer_add_char(&list, ']');
    if (code == 0)
        code = list.failure ? list.failure : trk__snapshot_set(snapshot, "events", list.data);
    trk__buffer_done(&lines);
    trk__buffer_done(&list);
    return code;
}

/* What the rows saw is all that is known of it. */
static int recover_parts(struct trk_snapshot *snapshot, const char *head_json, double mtime)
{
    TRK_CLEANUP_FREE char *metadata = trk__json_text_at(head_json, "metadata");
    if (!metadata)
        return -EBADMSG;
    TRK_CLEANUP_FREE char *recovered = trk__store_mark_interrupted(metadata, snapshot, mtime);
    if (!recovered)
        return -ENOMEM;
    int code = trk__snapshot_set(snapshot, "metadata", recovered);
    static const char *const unknown[] = {"server_info", "cloud_info"};
    if (code == 0)
        code = trk__snapshot_set(snapshot, "schema", "\"v2\"");
    for (size_t i = 0; i < 2 && code == 0; i++)
        code = trk__snapshot_set(snapshot, unknown[i], "null");
    return code < 0 ? code : trk__store_sum_rows(snapshot);
}

static int recover_from(struct trk_rows_reader *reader, int dir_fd, const char *path,
                        const char *id, struct trk_error *error)
{
    struct stat status;
    if (fstat(reader->fd, &status) < 0)
        return -errno;
    double mtime = (double)trk__os_modified_ns(&status) * 1e-9;
    if (trk__record_is_alive(reader->json, mtime))
        return -EBUSY;
    /* Asked after its tracker was found gone: it may have ended well since its file was opened. */
    if (has_record(dir_fd, id))
        return 0;
    struct trk_snapshot *snapshot = trk__snapshot_new();
    if (!snapshot)
        return -ENOMEM;
    char name[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s/%s%s", path, id, RECORD_SUFFIX);
    int code = trk__rows_reader_tables(reader, 0, 0, &snapshot->process, &snapshot->system);
    if (code == 0)
        code = trk__rows_reader_detail(reader, &snapshot->detail);
    if (code == 0)
        code = recover_parts(snapshot, reader->json, mtime);
    if (code == 0)
        code = trk__store_take_events(path, id, snapshot);
    if (code == 0)
        code = trk__snapshot_save(snapshot, AT_FDCWD, name, error);
    trk__snapshot_free(snapshot);
    return code;
}

int trk__store_recover(const char *path, const char *id, struct trk_error *error)
{
    char name[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 16];
    snprintf(name, sizeof name, "%s/%s%s", path, id, ROWS_SUFFIX);
    TRK_CLEANUP_FD int dir_fd = trk__os_open_place(AT_FDCWD, path, true);
    if (dir_fd < 0)
        return trk__error_set(error, dir_fd, "%s: %s", path, strerror(-dir_fd));
    struct trk_rows_reader reader;
    int code = trk__rows_reader_open(&reader, AT_FDCWD, name);
    if (code < 0)
        return trk__error_set(error, code, "%s: %s", name, strerror(-code));
    code = recover_from(&reader, dir_fd, path, id, error);
    trk__rows_reader_close(&reader);
    if (code == 0)
        trk__store_drop_traces(path, id);
    return code;
}
