/* A file that is written when all is over: readers see the whole of it or none. "-" is standard output. */
#ifndef RESOURCE_TRACKER_CLI_WHOLE_FILE_H
#define RESOURCE_TRACKER_CLI_WHOLE_FILE_H

#include "cli.h"

struct cli_whole_file {
    const char *option; /* that named it, for messages: "--summary" */
    const char *path;   /* NULL: not asked for */
    bool overwrite;
    int (*write)(const void *context, int fd, struct trk_error *error);
    const void *context;
};

/* Whether it could be written: 0, or CLI_EXIT_OWN after it has said why not. */
int cli_whole_file_check(const struct cli_whole_file *file);

/* Whether two names mean one regular file, which may be there or not. Devices and pipes may be named twice. NULL is no file. */
bool cli_whole_file_is_same(const char *one, const char *other);

/* 0, or a negative code after it has said why not. */
int cli_whole_file_save(const struct cli_whole_file *file);

#endif
