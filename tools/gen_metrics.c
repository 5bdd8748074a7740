/* Prints docs/metrics.md from the catalogue; --check FILE compares instead. */
#include "resource_tracker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const char *text;
} scopes[] = {
    {"row", "Every row"},
    {"process", "The job: prefix `process_`"},
    {"system", "The machine: prefix `system_`"},
    {"core", "Each core: prefix `cpuN_`"},
    {"disk", "Each disk: prefix `diskN_`"},
    {"net", "Each network interface: prefix `netN_`"},
    {"gpu", "Each GPU: prefix `gpuN_`"},
};

static const char intro[] =
    "# Metrics\n"
    "\n"
    "Made from `src/metric/catalogue.def` by `make docs`; do not edit it here.\n"
    "\n"
    "The name is that of schema `full`, the unit being part of it; v1, v2 and v3 are the columns "
    "of\n"
    "the other schemas, each with its unit where that is another, empty where a schema has none. "
    "KiB, MiB and GiB "
    "are\n"
    "powers of 1024, GB is 10^9 bytes, a clock tick is 10 ms. A *gauge* is the value at the end of "
    "the\n"
    "interval, a *delta* its growth over the interval, a *rate* its growth by second. What can't "
    "be\n"
    "read is absent - an empty cell, a JSON null, an SQL NULL - and never 0.\n";

/* The column of a schema, with its unit where it is not that of schema full. */
static void print_column(FILE *page, const struct trk_metric_info *info, int schema)
{
    const char *name = info->names[schema], *unit = info->units[schema];
    if (!name)
        fputs("  |", page);
    else if (strcmp(unit, info->unit) == 0)
        fprintf(page, " %s |", name);
    else
        fprintf(page, " %s (%s) |", name, unit);
}

static void print_metric(FILE *page, const struct trk_metric_info *info)
{
    fprintf(page, "| %s | %s | %s |", info->name, info->unit, info->kind);
    for (int schema = 0; schema < 3; schema++)
        print_column(page, info, schema);
    fprintf(page, " %s | %s |\n", info->source, info->meaning);
}

/* Returns how many metrics the scope has; its heading is printed before the first. */
static size_t print_scope(FILE *page, const char *scope, const char *heading)
{
    size_t count = 0;
    struct trk_metric_info info = {.size = sizeof info};
    for (size_t i = 0; trk_metric_at(i, &info) == 0; i++) {
        if (strcmp(info.scope, scope) != 0)
            continue;
        if (count++ == 0)
            fprintf(page,
                    "\n## %s\n\n"
                    "| name | unit | kind | v1 | v2 | v3 | source | meaning |\n"
                    "|---|---|---|---|---|---|---|---|\n",
                    heading);
        print_metric(page, &info);
    }
    return count;
}

static size_t catalogue_size(void)
{
    struct trk_metric_info info = {.size = sizeof info};
    size_t count = 0;
    while (trk_metric_at(count, &info) == 0)
        count++;
    return count;
}

/* A scope that this program does not know would silently lose its metrics: that is -EINVAL. */
static int print_page(FILE *page)
{
    size_t printed = 0;
    fputs(intro, page);
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        printed += print_scope(page, scopes[i].name, scopes[i].text);
    return printed == catalogue_size() ? 0 : -EINVAL;
}

static int compare_streams(FILE *page, FILE *committed)
{
    for (unsigned long line = 1;;) {
        int expected = getc(page);
        int actual = getc(committed);
        if (expected != actual) {
            fprintf(stderr, "docs/metrics.md is stale from line %lu on: run make docs\n", line);
            return 1;
        }
        if (expected == EOF)
            return 0;
        line += expected == '\n';
    }
}

static int check_page(const char *path)
{
    FILE *page = tmpfile();
    FILE *committed = fopen(path, "re");
    int code = 1;
    if (!page || !committed)
        perror(path);
    else if (print_page(page) < 0)
        fputs("gen_metrics: the catalogue has a scope that the page does not show\n", stderr);
    else {
        rewind(page);
        code = compare_streams(page, committed);
    }
    if (page)
        fclose(page);
    if (committed)
        fclose(committed);
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--check") == 0)
        return check_page(argv[2]);
    if (print_page(stdout) < 0 || fflush(stdout) != 0) {
        fputs("gen_metrics: could not print the whole page\n", stderr);
        return 1;
    }
    return 0;
}
