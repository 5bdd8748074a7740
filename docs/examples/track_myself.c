/* A program that tracks itself:  cc track_myself.c -lresource-tracker && ./a.out */
#include <resource_tracker.h>
#include <stdio.h>

int main(void)
{
    struct trk_tracker_options options;
    struct trk_error error;
    trk_tracker *tracker;
    trk_tracker_options_init(&options);
    options.interval_seconds = 0.1;
    if (trk_tracker_new(&options, &tracker, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    trk_mark_start(tracker, "work", NULL);
    volatile double work = 0;
    while (trk_tracker_n_samples(tracker) < 3)
        work += 1;
    trk_mark_stop(tracker, "work", NULL);
    char *stats = NULL;
    int code = trk_tracker_stop(tracker, &error);
    if (code == 0)
        code = trk_tracker_stats_json(tracker, NULL, 0, &stats, &error);
    puts(code == 0 ? stats : error.message);
    trk_free(stats);
    trk_tracker_free(tracker);
    return code < 0;
}
