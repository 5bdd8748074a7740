/* What the words of a side name: files, folders, baselines, runs and keys. */
#include "sides/baseline.h"
#include "sides/side_run.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "run/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- files and folders --------------------------------------------------------------- */

/* Runs that did not end well are no measure of a job that works: where a word means several runs, they are left out. */
static bool ended_well(const struct trk_run *run)
{
    const struct trk_run_outcome *outcome = &run->metadata.outcome;
    return run->state == TRK_RUN_FINISHED && !outcome->interrupted && outcome->exit_code <= 0 &&
           !outcome->exit_signal;
}

/* A run that was named alone is compared however it ended; a note says how. */
static int add_ended(struct trk_side *side, const struct trk_run *run, const char *source,
                     struct trk_error *error)
{
    const struct trk_run_outcome *outcome = &run->metadata.outcome;
    char words[64] = "";
    int code = trk__side_add_run(side, run, NULL, source, error);
    if (code < 0 || ended_well(run))
        return code;
    if (run->state == TRK_RUN_RUNNING)
        snprintf(words, sizeof words, "is still running");
    else if (run->state != TRK_RUN_FINISHED || outcome->interrupted)
        snprintf(words, sizeof words, "was interrupted");
    else if (outcome->exit_signal)
        snprintf(words, sizeof words, "was killed by signal %d", outcome->exit_signal);
    else
        snprintf(words, sizeof words, "failed with exit %d", outcome->exit_code);
    side->has_running |= run->state == TRK_RUN_RUNNING;
    const char *id = run->metadata.identity.id;
    code = trk__side_add_note(side, *id ? id : source, words);
    return code < 0 ? trk__error_set(error, code, "out of memory") : 0;
}

static int add_run_file(struct trk_side *side, const char *path, bool is_one_of_many,
                        struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__run_load(path, &run, error);
    if (code < 0)
        return code;
    if (!is_one_of_many || ended_well(run))
        code = add_ended(side, run, path, error);
    trk__run_free(run);
    return code;
}

/* A baseline is plain JSON and small; anything else is a run. */
static int add_file(struct trk_side *side, const char *path, bool is_one_of_many,
                    struct trk_error *error)
{
    TRK_CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    char first;
    if (fd < 0 || fstat(fd, &status) < 0)
        return trk__error_set(error, -errno, "%s: %s", path, strerror(errno));
    if (status.st_size > TRK_BASELINE_BYTES_MAX || pread(fd, &first, 1, 0) != 1 || first != '{')
        return add_run_file(side, path, is_one_of_many, error);
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BASELINE_BYTES_MAX + 1);
    int code = trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &text);
    if (code == 0)
        code = trk__baseline_read(side, path, text.data, text.len, error);
    else
        trk__error_set(error, code, "%s: %s", path, strerror(-code));
    trk__buffer_done(&text);
    return code == -ENOTSUP ? add_run_file(side, path, is_one_of_many, error) : code;
}

static bool is_run_name(const char *name)
{
    static const char *const suffixes[] = {".run", ".json", ".json.gz"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (len > suffix && strcmp(name + len - suffix, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static int is_run_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && is_run_name(entry->d_name);
}

/* A pipe of such a name would be waited for, and a link can lead nowhere. */
static bool is_regular(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* All runs in a folder by name, which for the store's is by time. Of more than fit the last are taken. */
static int add_folder(struct trk_side *side, const char *path, struct trk_error *error)
{
    struct dirent **entries;
    size_t before = side->count;
    int count = scandir(path, &entries, is_run_entry, alphasort), code = 0;
    if (count < 0)
        return trk__error_set(error, -errno, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char file[TRK_BASELINE_PATH_SIZE];
        bool fits =
            snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name) < (int)sizeof file;
        if (code == 0 && !fits)
            code = trk__error_set(error, -ENAMETOOLONG, "%s: the path is too long", path);
        else if (code == 0 && i >= count - TRK_SIDE_RUNS_MAX && is_regular(file))
            code = add_file(side, file, true, error);
        free(entries[i]);
    }
    free(entries);
    if (code == 0 && side->count == before)
        return trk__error_set(error, -ENODATA, "%s: no run in this folder ended well", path);
    return code;
}

static int add_path(struct trk_side *side, const char *path, struct trk_error *error)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return -ENOENT;
    return S_ISDIR(status.st_mode) ? add_folder(side, path, error)
                                   : add_file(side, path, false, error);
}

/* ---- kept runs ----------------------------------------------------------------------- */

static int add_kept(struct trk_side *side, const char *store, const struct trk_store_run *kept,
                    struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__store_load(store, kept, TRK_EXTENT_WHOLE, &run, error);
    if (code < 0)
        return code;
    code = add_ended(side, run, kept->info.id, error);
    trk__run_free(run);
    return code;
}

/* The newest kept runs with a key that worked. -ENOENT: none has the key. */
static int add_key(struct trk_side *side, const char *store, const struct trk_store_list *list,
                   const char *key, struct trk_error *error)
{
    size_t found = 0, added = 0;
    for (size_t i = 0; i < list->count && added < TRK_SIDE_RUNS_MAX; i++) {
        const struct trk_run_info *info = &list->run[i].info;
        if (strcmp(info->key, key) != 0)
            continue;
        found++;
        if (info->running || info->interrupted || info->is_unknown || *info->damage ||
            info->exit_code > 0 || info->exit_signal)
            continue;
        int code = add_kept(side, store, &list->run[i], error);
        if (code < 0)
            return code;
        added++;
    }
    if (found && !added)
        return trk__error_set(error, -ENODATA,
                              "no run with the key %s has ended well; name one by its id", key);
    return found ? 0 : -ENOENT;
}

static int add_stored(struct trk_side *side, const char *word, struct trk_error *error)
{
    char store[TRK_STORE_PATH_SIZE];
    struct trk_store_list list = {0};
    const struct trk_store_run *kept;
    int code = trk__store_path(NULL, store);
    if (code == 0)
        code = trk__store_list(store, &list, error);
    if (code < 0)
        return code;
    bool is_last = strcmp(word, "last") == 0;
    code = trk__store_match(&list, is_last ? NULL : word, &kept, error);
    code = code == 0         ? add_kept(side, store, kept, error)
           : code == -ENOENT ? add_key(side, store, &list, word, error)
                             : code;
    for (size_t i = 0; i < list.count && !*side->unreadable; i++)
        if (*list.run[i].info.damage)
            snprintf(side->unreadable, sizeof side->unreadable, "run %s can't be read: %s",
                     list.run[i].info.id, list.run[i].info.damage);
    trk__store_list_done(&list);
    return code;
}

/* A baseline comes before a folder of the same name; ./NAME is the folder. */
static int add_word(struct trk_side *side, const char *word, struct trk_error *error)
{
    char path[TRK_BASELINE_PATH_SIZE];
    bool is_path = strchr(word, '/') || is_run_name(word);
    int code = is_path ? add_path(side, word, error) : -ENOENT;
    if (code == -ENOENT && trk__baseline_path(word, path) == 0)
        code = add_path(side, path, error);
    if (code == -ENOENT)
        code = add_stored(side, word, error);
    if (code == -ENOENT && !is_path)
        code = add_path(side, word, error);
    return code;
}

/* What a name of a baseline means; 0, or the code with `error`. */
static int find_baseline(const char *name, char ret_path[TRK_BASELINE_PATH_SIZE],
                         struct trk_error *error)
{
    int code = trk__baseline_path(name, ret_path);
    return code == -EINVAL ? trk__error_set(error, code, "the name of a baseline is empty")
           : code < 0      ? trk__error_set(error, code, "%s: the name is too long", name)
                           : 0;
}

int trk_side_add_baseline(trk_side *side, const char *name, struct trk_error *error)
{
    char path[TRK_BASELINE_PATH_SIZE];
    int code = find_baseline(name, path, error);
    return code < 0 ? code : add_file(side, path, false, error);
}

int trk_side_add(trk_side *side, const char *word, struct trk_error *error)
{
    int code = add_word(side, word, error);
    if (code != -ENOENT || !strchr(word, ','))
        return code != -ENOENT
                   ? code
                   : trk__error_set(error, -ENOENT,
                                    "no such run, file, folder, baseline or key: %s; %s", word,
                                    *side->unreadable ? side->unreadable
                                                      : "resource-tracker runs lists the runs");
    TRK_CLEANUP_FREE char *list = strdup(word);
    if (!list)
        return trk__error_set(error, -ENOMEM, "out of memory");
    code = 0;
    size_t items = 0;
    char *rest = list;
    for (char *item; code == 0 && (item = strsep(&rest, ","));)
        if (*item) {
            code = trk_side_add(side, item, error);
            items++;
        }
    return items ? code : trk__error_set(error, -EINVAL, "'%s' names no run", word);
}

int trk_side_save(const trk_side *side, const char *name, char *ret_path, size_t size,
                  struct trk_error *error)
{
    char path[TRK_BASELINE_PATH_SIZE], part[TRK_BASELINE_PATH_SIZE + 8];
    int code = find_baseline(name, path, error);
    if (code < 0)
        return code;
    if (!side->count)
        return trk__error_set(error, -ENODATA, "%s: there is no run to save", path);
    if (side->has_running)
        return trk__error_set(error, -EBUSY, "%s: a run has not ended; save it when it has", path);
    if (strncmp(path, ".resource-tracker/", 18) == 0 && mkdir(".resource-tracker", 0777) < 0 &&
        errno != EEXIST)
        return trk__error_set(error, -errno, ".resource-tracker: %s", strerror(errno));
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BASELINE_BYTES_MAX);
    trk__baseline_write(side, &text);
    snprintf(part, sizeof part, "%s.part", path);
    TRK_CLEANUP_FD int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    code = text.failure ? text.failure : fd < 0 ? -errno : 0;
    if (code == 0)
        code = trk__file_write_all(fd, text.data, text.len);
    if (code == 0 && rename(part, path) < 0)
        code = -errno;
    if (code < 0 && fd >= 0)
        unlink(part);
    trk__buffer_done(&text);
    if (code < 0)
        return trk__error_set(error, code, "%s: %s", path, strerror(-code));
    if (ret_path)
        snprintf(ret_path, size, "%s", path);
    return 0;
}
