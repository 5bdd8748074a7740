/* A comparison as a table for the terminal. */
#ifndef RESOURCE_TRACKER_CLI_COMPARE_TABLE_H
#define RESOURCE_TRACKER_CLI_COMPARE_TABLE_H

#include "resource_tracker.h"

/* On `fd`; base_title and new_title head the columns. base_title NULL: there is no base. */
void cli_compare_table_print(const trk_comparison *comparison, const char *base_title,
                             const char *new_title, int fd);

#endif
