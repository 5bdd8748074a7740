/* The parts of gpu-tracker. */
#ifndef RESOURCE_TRACKER_CLI_GPUT_H
#define RESOURCE_TRACKER_CLI_GPUT_H

#include "cli.h"
#include "gput_options.h"

enum gput_format { GPUT_TEXT, GPUT_JSON };

/* Each returns the exit status. */
int gput_track(const struct gput_options *options);
int gput_sub_track(const struct gput_options *options);

/* -1: no such format; the message is printed. */
int gput_format_of(const struct gput_options *options);

/* Where the figures go. The file is opened before anything is measured and gets its text at the end. */
struct gput_output {
    const char *path; /* NULL: standard output */
    int fd;
    bool is_new;
};

/* 0, or CLI_EXIT_OWN with the message printed. */
int gput_output_open(struct gput_output *output, const char *path);

/* Writes the text and a newline. */
int gput_output_write(struct gput_output *output, const char *text);

/* Nothing came of it: a file that was made for it goes. */
void gput_output_discard(struct gput_output *output);

#endif
