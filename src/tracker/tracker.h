/* A tracker's inside: the process that it started, its run file, or the run that was loaded. */
#ifndef TRK_TRACKER_TRACKER_H
#define TRK_TRACKER_TRACKER_H

#include "run/run_file.h"

enum { TRK_TRACKER_FOLDER_SIZE = 512 };

struct trk_tracker {
    struct trk_tracker_options options;
    char *program; /* NULL: to be found */
    pid_t owner;   /* the process that made it; another one, born by fork, only frees memory */
    pid_t child;   /* the tracker's process; 0: none, or reaped */
    char folder[TRK_TRACKER_FOLDER_SIZE]; /* of our own: run, events, error */
    double start_time, stop_time;         /* NaN: not yet */
    struct trk_run_reader reader;         /* fd -1: the file is not there yet */
    struct trk_run *loaded;               /* instead of all that */
};

/* Rows of a tracker as they are now. */
struct trk_tables {
    struct trk_run_tables run;
    bool owned; /* trk__tables_done frees them; else they are those of the run that was loaded */
};

/* `count` rows from `first` on; 0: to the end. A tracker that was loaded gives all of them. */
int trk__tracker_slice(struct trk_tracker *tracker, uint64_t first, uint64_t count,
                       struct trk_tables *ret_tables, struct trk_error *error);
void trk__tables_done(struct trk_tables *tables);

/* Opens the run file if it is there by now, and takes what was added to it. -ENOENT, -EBADMSG: not yet. */
int trk__tracker_refresh(struct trk_tracker *tracker);

int trk__tracker_events_path(const struct trk_tracker *tracker, char *ret_path, size_t size);

/* Where the program is (find_program.c). */
int trk__find_program(const char *asked, char *ret_path, size_t size);

/* A folder for the files of a tracker's process. */
int trk__tracker_make_folder(char ret_folder[TRK_TRACKER_FOLDER_SIZE]);

/* Starts a tracker's process, in a session of its own: Ctrl-C is for the program, which stops its tracker itself.
 * Signals that the program blocks or ignores are not the tracker's business; those that end it wait until it listens,
 * so that one that is stopped at once tells its totals all the same. */
int trk__tracker_spawn(const char *program, char *const words[], pid_t *ret_pid);

/* The words for the tracker's own process (serve.c reads them). */
enum { TRK_SERVE_WORDS = 11 };
/* Told when the thread that started us ends: with it the whole process may have, which is then looked up. An interval
 * may be an hour, and nobody waits so long for files to go. */
#define TRK_SERVE_PARENT_SIGNAL SIGUSR1

/* The signals that end a tracker's process, and that one; a signalfd. */
int trk__serve_signals(void);

/* True: it was asked to go, or what it watches has ended. */
bool trk__serve_is_over(const struct trk_event *event);

#define TRK_SERVE_COMMAND "__track"
#define TRK_SERVE_PROTOCOL "3"

#endif
