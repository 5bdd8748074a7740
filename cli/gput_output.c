#include "gput.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int gput_format_of(const struct gput_options *options)
{
    const char *format = options->format;
    if (!format || strcmp(format, "text") == 0)
        return GPUT_TEXT;
    if (strcmp(format, "json") == 0)
        return GPUT_JSON;
    if (strcmp(format, "pickle") == 0)
        cli_fail("pickle files are the Python package's own; use -f json, which sub-track compare "
                 "takes here");
    else
        cli_fail("\"%s\" is not a valid format. Valid values are \"json\" or \"text\".", format);
    return -1;
}

static int open_failure(const char *path, int code)
{
    if (code == ENOENT)
        return cli_fail("can't write %s: there is no such directory", path);
    if (code == EISDIR)
        return cli_fail("can't write %s: it is a directory; name a file in it", path);
    return cli_fail("can't write %s: %s", path, strerror(code));
}

int gput_output_open(struct gput_output *output, const char *path)
{
    struct stat status;
    *output = (struct gput_output){.path = path, .fd = STDOUT_FILENO};
    if (!path)
        return 0;
    if (!*path)
        return cli_fail("-o: the name is empty; leave -o out to print to standard output");
    output->is_new = stat(path, &status) < 0 && errno == ENOENT;
    output->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    return output->fd < 0 ? open_failure(path, errno) : 0;
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t written = write(fd, text, len);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            len -= (size_t)written;
        }
    }
    return true;
}

int gput_output_write(struct gput_output *output, const char *text)
{
    struct stat status;
    bool is_file = output->path && fstat(output->fd, &status) == 0 && S_ISREG(status.st_mode);
    size_t len = strlen(text);
    bool ends = len && text[len - 1] == '\n';
    bool written = (!is_file || ftruncate(output->fd, 0) == 0) &&
                   write_all(output->fd, text, len) && write_all(output->fd, "\n", !ends);
    int code = written ? 0 : errno;
    if (output->path && close(output->fd) < 0 && !code)
        code = errno;
    return code ? cli_fail("can't write %s: %s", output->path ? output->path : "to standard output",
                           strerror(code))
                : 0;
}

void gput_output_discard(struct gput_output *output)
{
    if (!output->path || output->fd < 0)
        return;
    close(output->fd);
    if (output->is_new)
        unlink(output->path);
}
