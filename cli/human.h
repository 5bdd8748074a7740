/* Figures as a person reads them: three significant digits, always with the unit. */
#ifndef RESOURCE_TRACKER_CLI_HUMAN_H
#define RESOURCE_TRACKER_CLI_HUMAN_H

enum { CLI_HUMAN_SIZE = 32 };

/* Each writes into `text` and returns it, so that it can stand in an argument list. NaN, infinite
 * and negative values, which no figure here can have, give "not measured". */

/* "512 B", "1.50 KiB", "812 MiB" */
const char *cli_human_bytes(double bytes, char text[CLI_HUMAN_SIZE]);

/* "5.20 ms", "12.3 s", "3 min 12 s", "2 h 05 min", "3 d 04 h" */
const char *cli_human_seconds(double seconds, char text[CLI_HUMAN_SIZE]);

/* "<0.01", "0.05", "1.62", "12.3", "128": the unit is the caller's */
const char *cli_human_number(double value, char text[CLI_HUMAN_SIZE]);

/* "0.3 %", "98 %" */
const char *cli_human_percent(double ratio, char text[CLI_HUMAN_SIZE]);

/* The words of a figure, "-" where it is not known. */
const char *cli_human_or_dash(const char *(*words)(double, char *), double value,
                              char text[CLI_HUMAN_SIZE]);

#endif
