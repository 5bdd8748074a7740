/* What gpu-tracker was asked for. */
#ifndef RESOURCE_TRACKER_CLI_GPUT_OPTIONS_H
#define RESOURCE_TRACKER_CLI_GPUT_OPTIONS_H

#include "resource_tracker.h"

enum gput_command {
    GPUT_TRACK = 1,
    GPUT_COMBINE = 2,
    GPUT_ANALYZE = 4,
    GPUT_COMPARE = 8,
    GPUT_ANY = 15
};

enum { GPUT_LIST_MAX = 4096 };

struct gput_list {
    const char **item;
    size_t count;
};

/* Text is borrowed from argv; NULL: not given. */
struct gput_options {
    enum gput_command command;
    const char *execute, *output, *format, *sleep_time, *ram_unit, *gpu_ram_unit, *time_unit;
    const char *expected_cores, *gpu_uuids, *gpu_brand, *tracking_file, *tracker_config;
    const char *sub_tracking_file, *compare_config, *statistic, *compat;
    const char *root; /* for tests: where proc and sys are */
    bool overwrite, disable_logs, help, version;
    struct gput_list paths, maps;
    enum trk_gpu_compat release; /* what compat says */
};

enum gput_kind { GPUT_KIND_TEXT, GPUT_KIND_FLAG, GPUT_KIND_LIST };

struct gput_option {
    const char *long_name; /* NULL: the short one alone */
    char short_name;       /* 0: none */
    const char *argument;
    unsigned commands;
    int since;
    enum gput_kind kind;
    size_t offset;
    const char *help;
};

enum {
#define OPTION(...) +1
    GPUT_OPTION_COUNT = 0
#include "gput_options.def"
#undef OPTION
};

extern const struct gput_option gput_option_table[GPUT_OPTION_COUNT];

/* Reads the words; `environment_compat` is GPU_TRACKER_COMPAT or NULL. With --help or --version the rest is not looked
 * at. */
int gput_options_init(struct gput_options *options, char *argv[], const char *environment_compat,
                      struct trk_error *error);
void gput_options_done(struct gput_options *options);

#endif
