/* A comparison as a table for the terminal. */
#ifndef RESOURCE_TRACKER_CLI_COMPARE_TABLE_H
#define RESOURCE_TRACKER_CLI_COMPARE_TABLE_H

#include "resource_tracker.h"

/* On `fd`; base_title and new_title head the columns. base_title NULL: there is no base. 0, or the negative code of a write. */
int cli_compare_table_print(const trk_comparison *comparison, const char *base_title,
                            const char *new_title, int fd);

/* The whole comparison on standard output, as JSON or Markdown. 0, or an exit status after it has said what is wrong. */
int cli_comparison_print(const trk_comparison *comparison, enum trk_comparison_form form);

/* The exit status for the code of a write to standard output, which it explains. */
int cli_comparison_written(int code);

#endif
