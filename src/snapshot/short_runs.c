#include "snapshot/short_runs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "snapshot/snapshot.h"
#include "snapshot/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = TRK_STORE_PATH_SIZE + 160, HOST_SIZE = 64, FILE_MODE = 0600 };
enum { LINES_MAX_BYTES = 1 << 30 };

static const char OPEN_PREFIX[] = ".short-", TAKEN_PREFIX[] = ".taken-";

static void path_here(const char *folder, char ret_path[PATH_SIZE])
{
    char host[HOST_SIZE + 1] = "";
    gethostname(host, HOST_SIZE);
    for (char *at = host; *at; at++)
        if (*at == '/')
            *at = '-';
    snprintf(ret_path, PATH_SIZE, "%s/%s%s", folder, OPEN_PREFIX, host);
}

int trk__short_runs_add(const char *folder, const char *line, size_t len)
{
    char path[PATH_SIZE];
    path_here(folder, path);
    TRK_CLEANUP_FD int fd =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return -errno;
    ssize_t wrote;
    do
        wrote = write(fd, line, len);
    while (wrote < 0 && errno == EINTR);
    if (wrote != (ssize_t)len)
        return wrote < 0 ? -errno : -ENOSPC; /* half a line is skipped by its reader */
    struct stat mine, named;
    if (fstat(fd, &mine) < 0 || stat(path, &named) < 0 || mine.st_ino != named.st_ino)
        return -ESTALE;
    return 0;
}

static bool is_id(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len < TRK_RUN_ID_SIZE && text[strspn(text, "0123456789abcdef-")] == '\0';
}

/* False where the record could not be written; a line that is no record is passed over. */
static bool expand_line(const char *folder, const struct trk_cursor *line)
{
    bool done = true;
    struct trk_snapshot *snapshot = NULL;
    size_t len = (size_t)(line->end - line->at);
    if (trk__snapshot_parse(line->at, len, "run", &snapshot, NULL) < 0)
        return true;
    TRK_CLEANUP_FREE char *id = trk__snapshot_text(snapshot, "metadata.run_id");
    char path[PATH_SIZE];
    if (id && is_id(id)) {
        snprintf(path, sizeof path, "%s/%s.json.gz", folder, id);
        done = trk__snapshot_save(snapshot, AT_FDCWD, path, NULL) == 0;
    }
    trk__snapshot_free(snapshot);
    return done;
}

static void expand_file(const char *folder, int dir_fd, const char *name)
{
    TRK_CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct trk_buffer text;
    trk__buffer_init(&text, LINES_MAX_BYTES);
    if (fd >= 0 && trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &text) == 0) {
        struct trk_cursor cursor = trk__cursor(text.data ? text.data : "", text.len), line;
        bool all = true;
        while (trk__cursor_line(&cursor, &line))
            all &= expand_line(folder, &line);
        if (all) /* else, on a full disk, the next reader tries again */
            unlinkat(dir_fd, name, 0);
    }
    trk__buffer_done(&text);
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

void trk__short_runs_expand(const char *folder)
{
    TRK_CLEANUP_DIR DIR *dir = trk__dir_open_at(AT_FDCWD, folder);
    if (!dir)
        return;
    int dir_fd = trk__dir_fd(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char taken[NAME_MAX + 64];
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        if (begins_with(entry->d_name, OPEN_PREFIX)) {
            snprintf(taken, sizeof taken, "%s%d-%lld%09ld", TAKEN_PREFIX, (int)getpid(),
                     (long long)now.tv_sec, now.tv_nsec);
            if (renameat(dir_fd, entry->d_name, dir_fd, taken) == 0)
                expand_file(folder, dir_fd, taken);
        } else if (begins_with(entry->d_name, TAKEN_PREFIX)) {
            expand_file(folder, dir_fd, entry->d_name); /* of a reader that was killed */
        }
    }
}
