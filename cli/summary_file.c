#include "summary.h"

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

/* The folder that `path` is in, "." where it names none. False where it is too long. */
static bool folder_of(const char *path, char ret_folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    int len = !slash          ? snprintf(ret_folder, PATH_MAX, ".")
              : slash == path ? snprintf(ret_folder, PATH_MAX, "/")
                              : snprintf(ret_folder, PATH_MAX, "%.*s", (int)(slash - path), path);
    return len < PATH_MAX;
}

static int check_existing(const struct cli_options *options, const struct stat *status)
{
    const char *path = options->summary_path;
    if (S_ISDIR(status->st_mode))
        return cli_fail("--summary %s is a directory; name a file in it", path);
    if (S_ISREG(status->st_mode) && !options->session.overwrite)
        return cli_fail("--summary %s exists already; --force replaces it", path);
    if (!S_ISREG(status->st_mode) && access(path, W_OK) < 0)
        return cli_fail("--summary %s can't be written: %s", path, strerror(errno));
    return 0;
}

int cli_summary_check(const struct cli_options *options)
{
    const char *path = options->summary_path;
    if (!path || is_stdout(path))
        return 0;
    struct stat status;
    bool exists = stat(path, &status) == 0;
    int code = exists ? check_existing(options, &status) : 0;
    if (code || (exists && !S_ISREG(status.st_mode)))
        return code;
    char folder[PATH_MAX];
    if (!*path || !folder_of(path, folder))
        return cli_fail("--summary: '%.64s' is not the name of a file", path);
    if (access(folder, W_OK | X_OK) < 0)
        return cli_fail("--summary %s can't be written: %s: %s", path, folder, strerror(errno));
    return 0;
}

/* A file that appeared while the job ran is not replaced without --force either. */
static int move_into_place(const char *temporary, const char *path, bool overwrite)
{
    if (!overwrite) {
        if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EINVAL && errno != ENOSYS) /* those: a file system that can't promise it */
            return -errno;
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

static int write_then_move(const trk_session *session, const struct cli_options *options,
                           const char *path, const char *temporary, int fd)
{
    struct trk_error error = {0};
    int code = trk_session_write_summary(session, options->command, fd, &error);
    apply_umask(fd);
    if (close(fd) < 0 && code == 0)
        code = -errno;
    if (code == 0)
        code = move_into_place(temporary, path, options->session.overwrite);
    if (code < 0) {
        unlink(temporary);
        cli_fail("--summary %s: %s", path, *error.message ? error.message : strerror(-code));
    }
    return code;
}

/* Readers see the whole summary or none: it gets its name when it is complete. */
static int save_regular(const trk_session *session, const struct cli_options *options)
{
    /* Through a symbolic link its target is replaced, not the link. */
    char resolved[PATH_MAX];
    const char *path = realpath(options->summary_path, resolved);
    if (!path)
        path = options->summary_path;
    char temporary[PATH_MAX + 16];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        int code = -errno;
        cli_fail("--summary %s: %s", path, strerror(-code));
        return code;
    }
    return write_then_move(session, options, path, temporary, fd);
}

/* A terminal, a pipe, /dev/fd/3: there is nothing to rename. */
static int save_stream(const trk_session *session, const struct cli_options *options, int fd)
{
    struct trk_error error = {0};
    int code = trk_session_write_summary(session, options->command, fd, &error);
    if (code < 0 && code != -EPIPE)
        cli_fail("--summary %s: %s", options->summary_path, error.message);
    return code;
}

static int save_special(const trk_session *session, const struct cli_options *options)
{
    int fd = open(options->summary_path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        int code = -errno;
        cli_fail("--summary %s: %s", options->summary_path, strerror(-code));
        return code;
    }
    int code = save_stream(session, options, fd);
    close(fd);
    return code;
}

int cli_summary_save(const trk_session *session, const struct cli_options *options)
{
    const char *path = options->summary_path;
    if (!path)
        return 0;
    if (is_stdout(path))
        return save_stream(session, options, STDOUT_FILENO);
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return save_special(session, options);
    return save_regular(session, options);
}
