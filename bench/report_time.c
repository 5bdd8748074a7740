/* report_time FILE ROUNDS: loads a snapshot and makes its report in turns, and prints the CPU time of each in ms as
 * JSON. The report loads the snapshot itself, so that is in its time. */
#include "resource_tracker.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double time_load(const char *path)
{
    trk_run *run;
    double start = cpu_ms();
    if (trk_run_open(path, &run, NULL) < 0)
        exit(1);
    double took = cpu_ms() - start;
    trk_run_free(run);
    return took;
}

static double time_report(const char *path)
{
    char *html;
    struct trk_error error = {0};
    double start = cpu_ms();
    if (trk_report_run(path, NULL, &html, NULL, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    double took = cpu_ms() - start;
    trk_free(html);
    return took;
}

int main(int argc, char *argv[])
{
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    if (rounds < 1)
        return 2;
    double *load = malloc((size_t)rounds * sizeof *load),
           *report = malloc((size_t)rounds * sizeof *load);
    if (!load || !report)
        return 1;
    for (int i = 0; i < rounds; i++) {
        load[i] = time_load(argv[1]);
        report[i] = time_report(argv[1]);
    }
    printf("{\"load\":[");
    for (int i = 0; i < rounds; i++)
        printf("%s%.3f", i ? "," : "", load[i]);
    printf("],\"report\":[");
    for (int i = 0; i < rounds; i++)
        printf("%s%.3f", i ? "," : "", report[i]);
    printf("]}\n");
    free(load);
    free(report);
    return 0;
}
