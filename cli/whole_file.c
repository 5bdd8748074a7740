#include "whole_file.h"
#include "platform/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* ---- before -------------------------------------------------------------------------- */

/* The folder that `path` is in, "." where it names none. False where it is too long. */
static bool folder_of(const char *path, char ret_folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    int len = !slash          ? snprintf(ret_folder, PATH_MAX, ".")
              : slash == path ? snprintf(ret_folder, PATH_MAX, "/")
                              : snprintf(ret_folder, PATH_MAX, "%.*s", (int)(slash - path), path);
    return len < PATH_MAX;
}

/* Where a file is or would be, links resolved; false where that can't be said. */
static bool place_of(const char *path, char ret_place[PATH_MAX + NAME_MAX + 2])
{
    char folder[PATH_MAX], resolved[PATH_MAX];
    if (realpath(path, ret_place))
        return true;
    const char *slash = strrchr(path, '/');
    if (!folder_of(path, folder) || !realpath(folder, resolved))
        return false;
    snprintf(ret_place, PATH_MAX + NAME_MAX + 2, "%s/%.*s",
             strcmp(resolved, "/") == 0 ? "" : resolved, NAME_MAX, slash ? slash + 1 : path);
    return true;
}

bool cli_whole_file_is_same(const char *one, const char *other)
{
    char first[PATH_MAX + NAME_MAX + 2], second[PATH_MAX + NAME_MAX + 2];
    struct stat status, other_status;
    if (!one || !other || is_stdout(one) || is_stdout(other))
        return false;
    if (stat(one, &status) == 0 && stat(other, &other_status) == 0)
        return S_ISREG(status.st_mode) && status.st_dev == other_status.st_dev &&
               status.st_ino == other_status.st_ino;
    return place_of(one, first) && place_of(other, second) && strcmp(first, second) == 0;
}

static int check_existing(const struct cli_whole_file *file, const struct stat *status)
{
    const char *path = file->path;
    if (S_ISDIR(status->st_mode))
        return cli_fail("%s %s is a directory; name a file in it", file->option, path);
    if (S_ISREG(status->st_mode) && !file->overwrite)
        return cli_fail("%s %s exists already; --force replaces it", file->option, path);
    if (!S_ISREG(status->st_mode) && access(path, W_OK) < 0)
        return cli_fail("%s %s can't be written: %s", file->option, path, strerror(errno));
    return 0;
}

/* Nobody is told by "File exists" of a link to a file that does not. */
static int check_link(const struct cli_whole_file *file)
{
    char target[PATH_MAX];
    ssize_t len = readlink(file->path, target, sizeof target - 1);
    if (len <= 0 || file->overwrite)
        return 0;
    return cli_fail(
        "%s %s is a symbolic link to %.*s, which does not exist; --force puts the file in "
        "the link's place, or choose another name",
        file->option, file->path, (int)len, target);
}

int cli_whole_file_check(const struct cli_whole_file *file)
{
    const char *path = file->path;
    if (!path || is_stdout(path))
        return 0;
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (!exists && errno == ENAMETOOLONG)
        return cli_fail("%s %s can't be written: %s", file->option, path, strerror(errno));
    int code = exists ? check_existing(file, &status) : check_link(file);
    if (code || (exists && !S_ISREG(status.st_mode)))
        return code;
    char folder[PATH_MAX];
    if (!*path || !folder_of(path, folder))
        return cli_fail("%s: '%.64s' is not the name of a file", file->option, path);
    if (access(folder, W_OK | X_OK) < 0)
        return cli_fail("%s %s can't be written: %s: %s", file->option, path, folder,
                        strerror(errno));
    return 0;
}

/* ---- after --------------------------------------------------------------------------- */

/* A file that appeared while the job ran is not replaced without --force either. */
static int move_into_place(const char *temporary, const char *path, bool overwrite)
{
    if (!overwrite) {
        int code = trk__os_rename_new(temporary, path);
        if (code != -ENOTSUP)
            return code;
    }
    return rename(temporary, path) < 0 ? -errno : 0;
}

/* mkostemp makes it 0600; the file itself is to be as any other that the user creates. */
static void apply_umask(int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
}

static int write_then_move(const struct cli_whole_file *file, const char *path,
                           const char *temporary, int fd)
{
    struct trk_error error = {0};
    int code = file->write(file->context, fd, &error);
    apply_umask(fd);
    if (close(fd) < 0 && code == 0)
        code = -errno;
    if (code == 0)
        code = move_into_place(temporary, path, file->overwrite);
    if (code < 0) {
        unlink(temporary);
        cli_fail("%s %s: %s", file->option, path, *error.message ? error.message : strerror(-code));
    }
    return code;
}

static int save_regular(const struct cli_whole_file *file)
{
    /* Through a symbolic link its target is replaced, not the link. */
    char resolved[PATH_MAX];
    const char *path = realpath(file->path, resolved);
    if (!path)
        path = file->path;
    /* In the same folder, so that it can be renamed; its own name has no room for more where it is long. */
    char folder[PATH_MAX], temporary[PATH_MAX + 32];
    bool fits = folder_of(path, folder);
    if (fits)
        snprintf(temporary, sizeof temporary, "%s/.resource-tracker.XXXXXX", folder);
    else
        errno = ENAMETOOLONG;
    int fd = fits ? mkostemp(temporary, O_CLOEXEC) : -1;
    if (fd < 0) {
        int code = -errno;
        cli_fail("%s %s: %s", file->option, path, strerror(-code));
        return code;
    }
    return write_then_move(file, path, temporary, fd);
}

/* A terminal, a pipe, /dev/fd/3: there is nothing to rename. */
static int save_stream(const struct cli_whole_file *file, int fd)
{
    struct trk_error error = {0};
    int code = file->write(file->context, fd, &error);
    if (code < 0 && code != -EPIPE)
        cli_fail("%s %s: %s", file->option, file->path,
                 *error.message ? error.message : strerror(-code));
    return code;
}

static int save_special(const struct cli_whole_file *file)
{
    int fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        int code = -errno;
        cli_fail("%s %s: %s", file->option, file->path, strerror(-code));
        return code;
    }
    int code = save_stream(file, fd);
    close(fd);
    return code;
}

int cli_whole_file_save(const struct cli_whole_file *file)
{
    const char *path = file->path;
    if (!path)
        return 0;
    if (is_stdout(path))
        return save_stream(file, STDOUT_FILENO);
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return save_special(file);
    return save_regular(file);
}
