#include "summary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One of the files that are written when all is over. */
struct target {
    const char *option;
    const char *path; /* NULL: not asked for */
    int (*write)(const trk_session *session, const struct cli_options *options, int fd,
                 struct trk_error *error);
};

enum { TARGETS = 3 };

static int write_summary(const trk_session *session, const struct cli_options *options, int fd,
                         struct trk_error *error)
{
    return trk_session_write_summary(session, options->command, fd, error);
}

static int write_processes(const trk_session *session, const struct cli_options *options, int fd,
                           struct trk_error *error)
{
    (void)options;
    return trk_session_write_processes(session, fd, error);
}

/* "FORMAT:FILE": the part behind the colon; NULL where there is none. */
static const char *export_path(const struct cli_options *options)
{
    const char *colon = options->export_to ? strchr(options->export_to, ':') : NULL;
    return colon ? colon + 1 : NULL;
}

enum { FORMAT_SIZE = 32 };

static void export_format(const struct cli_options *options, char ret_format[FORMAT_SIZE])
{
    snprintf(ret_format, FORMAT_SIZE, "%.*s", (int)strcspn(options->export_to, ":"),
             options->export_to);
}

static int write_export(const trk_session *session, const struct cli_options *options, int fd,
                        struct trk_error *error)
{
    char format[FORMAT_SIZE];
    export_format(options, format);
    return trk_session_export(session, format, options->command, options->job_name, fd, error);
}

static int check_export(const struct cli_options *options)
{
    if (!options->export_to)
        return 0;
    char format[FORMAT_SIZE], names[128] = "";
    export_format(options, format);
    size_t len = 0;
    const char *name;
    for (size_t i = 0; (name = trk_export_format(i)); i++) {
        if (strcmp(name, format) == 0 && export_path(options))
            return 0;
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", name);
    }
    return cli_fail("--export %s: give FORMAT:FILE, where FORMAT is one of %s", options->export_to,
                    names);
}

static void list_targets(const struct cli_options *options, struct target ret_targets[TARGETS])
{
    ret_targets[0] = (struct target){"--summary", options->summary_path, write_summary};
    ret_targets[1] = (struct target){"--processes", options->processes_path, write_processes};
    ret_targets[2] = (struct target){"--export", export_path(options), write_export};
}

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

/* Devices and pipes may be named twice. */
static bool is_same_file(const char *one, const char *other)
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

static int check_twice(const struct cli_options *options, const struct target targets[TARGETS])
{
    for (int i = 0; i < TARGETS; i++) {
        if (is_same_file(options->session.output_path, targets[i].path))
            return cli_fail("--output and %s are the same file, %s; give each its own",
                            targets[i].option, targets[i].path);
        for (int k = 0; k < i; k++)
            if (is_same_file(targets[k].path, targets[i].path))
                return cli_fail("%s and %s are the same file, %s; give each its own",
                                targets[k].option, targets[i].option, targets[i].path);
    }
    return 0;
}

static int check_existing(const struct cli_options *options, const struct target *target,
                          const struct stat *status)
{
    const char *path = target->path;
    if (S_ISDIR(status->st_mode))
        return cli_fail("%s %s is a directory; name a file in it", target->option, path);
    if (S_ISREG(status->st_mode) && !options->session.overwrite)
        return cli_fail("%s %s exists already; --force replaces it", target->option, path);
    if (!S_ISREG(status->st_mode) && access(path, W_OK) < 0)
        return cli_fail("%s %s can't be written: %s", target->option, path, strerror(errno));
    return 0;
}

static int check_target(const struct cli_options *options, const struct target *target)
{
    const char *path = target->path;
    if (!path || is_stdout(path))
        return 0;
    struct stat status;
    bool exists = stat(path, &status) == 0;
    int code = exists ? check_existing(options, target, &status) : 0;
    if (code || (exists && !S_ISREG(status.st_mode)))
        return code;
    char folder[PATH_MAX];
    if (!*path || !folder_of(path, folder))
        return cli_fail("%s: '%.64s' is not the name of a file", target->option, path);
    if (access(folder, W_OK | X_OK) < 0)
        return cli_fail("%s %s can't be written: %s: %s", target->option, path, folder,
                        strerror(errno));
    return 0;
}

int cli_summary_check(const struct cli_options *options)
{
    struct target targets[TARGETS];
    int wrong = check_export(options);
    if (wrong)
        return wrong;
    list_targets(options, targets);
    wrong = check_twice(options, targets);
    if (wrong)
        return wrong;
    for (int i = 0; i < TARGETS; i++) {
        int code = check_target(options, &targets[i]);
        if (code)
            return code;
    }
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
                           const struct target *target, const char *path, const char *temporary,
                           int fd)
{
    struct trk_error error = {0};
    int code = target->write(session, options, fd, &error);
    apply_umask(fd);
    if (close(fd) < 0 && code == 0)
        code = -errno;
    if (code == 0)
        code = move_into_place(temporary, path, options->session.overwrite);
    if (code < 0) {
        unlink(temporary);
        cli_fail("%s %s: %s", target->option, path,
                 *error.message ? error.message : strerror(-code));
    }
    return code;
}

/* Readers see the whole summary or none: it gets its name when it is complete. */
static int save_regular(const trk_session *session, const struct cli_options *options,
                        const struct target *target)
{
    /* Through a symbolic link its target is replaced, not the link. */
    char resolved[PATH_MAX];
    const char *path = realpath(target->path, resolved);
    if (!path)
        path = target->path;
    char temporary[PATH_MAX + 16];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        int code = -errno;
        cli_fail("%s %s: %s", target->option, path, strerror(-code));
        return code;
    }
    return write_then_move(session, options, target, path, temporary, fd);
}

/* A terminal, a pipe, /dev/fd/3: there is nothing to rename. */
static int save_stream(const trk_session *session, const struct cli_options *options,
                       const struct target *target, int fd)
{
    struct trk_error error = {0};
    int code = target->write(session, options, fd, &error);
    if (code < 0 && code != -EPIPE)
        cli_fail("%s %s: %s", target->option, target->path, error.message);
    return code;
}

static int save_special(const trk_session *session, const struct cli_options *options,
                        const struct target *target)
{
    int fd = open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        int code = -errno;
        cli_fail("%s %s: %s", target->option, target->path, strerror(-code));
        return code;
    }
    int code = save_stream(session, options, target, fd);
    close(fd);
    return code;
}

static int save_target(const trk_session *session, const struct cli_options *options,
                       const struct target *target)
{
    const char *path = target->path;
    if (!path)
        return 0;
    if (is_stdout(path))
        return save_stream(session, options, target, STDOUT_FILENO);
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return save_special(session, options, target);
    return save_regular(session, options, target);
}

void cli_record_keep(trk_session *session, const struct cli_options *options)
{
    char id[32];
    struct trk_error error = {0};
    int code = options->no_save ? 0 : trk_session_save(session, id, &error);
    if (code < 0 && code != -ENODATA && !options->quiet)
        cli_fail("this run is not kept: %s; --no-save is for runs that need not be", error.message);
}

int cli_summary_save(const trk_session *session, const struct cli_options *options)
{
    struct target targets[TARGETS];
    int first = 0;
    list_targets(options, targets);
    for (int i = 0; i < TARGETS; i++) {
        int code = save_target(session, options, &targets[i]);
        if (first == 0)
            first = code;
    }
    return first;
}
