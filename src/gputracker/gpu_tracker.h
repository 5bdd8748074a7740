/* A tracker's inside: a session that measures here, or a process of its own that measures and tells. */
#ifndef TRK_GPUTRACKER_GPU_TRACKER_H
#define TRK_GPUTRACKER_GPU_TRACKER_H

#include "gputracker/usage_meter.h"
#include "tracker/tracker.h"

struct trk_gpu_tracker {
    struct trk_gpu_tracker_options options; /* its strings are our own */
    enum trk_gpu_tracker_state state;
    trk_session *session; /* NULL: another process measures */
    struct trk_usage_meter meter;
    pid_t owner, child;
    char folder[TRK_TRACKER_FOLDER_SIZE];
    struct trk_gpu_usage last; /* of the child; size 0: nothing yet */
};

/* What the two processes share: the newest figures, in a file of this form. Both numbers are equal when it was read
 * whole. */
struct trk_gpu_report {
    uint64_t begun;
    struct trk_gpu_usage usage;
    uint64_t ended;
};

#define TRK_GPU_REPORT_FILE "usage"
#define TRK_GPU_ERROR_FILE "error"

/* The words for the tracker's own process, behind the program's name and these two. */
#define TRK_GPU_SERVE_COMMAND "__gpu-track"
#define TRK_GPU_SERVE_PROTOCOL "1"
enum trk_gpu_serve_word {
    TRK_GPU_WORD_FOLDER = 3,
    TRK_GPU_WORD_PARENT,
    TRK_GPU_WORD_PID,
    TRK_GPU_WORD_INTERVAL_NS,
    TRK_GPU_WORD_RAM_UNIT,
    TRK_GPU_WORD_GPU_RAM_UNIT,
    TRK_GPU_WORD_TIME_UNIT,
    TRK_GPU_WORD_CORES,
    TRK_GPU_WORD_UUIDS, /* empty: none given, as the two below */
    TRK_GPU_WORD_BRAND,
    TRK_GPU_WORD_FILE,
    TRK_GPU_WORD_OVERWRITE,
    TRK_GPU_WORDS
};

#endif
