/* The lives of a job's processes: one line each, bounded in memory at any number of them.
 *
 * A life is open from its birth (where process events tell it) or from the end on that a look noticed, until
 * nobody can add to it. Closed lives are kept up to a limit; beyond it the smallest are merged by command. */
#ifndef TRK_ACCOUNT_PROCESS_BOOK_H
#define TRK_ACCOUNT_PROCESS_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TRK_LIFE_COMM_SIZE = 16 };

/* Who has told the figures of a life. */
enum {
    TRK_LIFE_SAMPLED = 1 << 0,
    TRK_LIFE_WAIT4 = 1 << 1,
    TRK_LIFE_EVENTS = 1 << 2,
    TRK_LIFE_TASKSTATS = 1 << 3,
    TRK_LIFE_PTRACE = 1 << 4, /* exact to the end: nobody else adds to it */
};

struct trk_life {
    pid_t pid; /* 0: several of one command */
    pid_t ppid;
    char comm[TRK_LIFE_COMM_SIZE];
    double start_time; /* since the epoch; 0: not known */
    double end_time;   /* likewise; 0: not known, or it has not ended */
    uint32_t merged;   /* how many this line stands for */
    uint8_t told_by;
    bool has_status, has_cpu, has_bytes;
    bool ended;       /* open lives only: waits for the last word of others ... */
    bool delayed;     /* ... and has waited once already */
    int64_t named_ns; /* open lives only: when its name was seen, by the monotonic clock */
    int status;       /* as wait4 gives it */
    uint64_t cpu_ns;
    uint64_t peak_rss_bytes; /* 0: not known */
    uint64_t read_bytes, write_bytes;
};

struct trk_process_book {
    struct trk_life *open; /* hash table by pid; pid 0 is an empty place, -1 a removed one */
    size_t open_places, open_used, open_count;
    size_t ended_count; /* of the open ones */

    struct trk_life *closed;
    size_t closed_count, closed_capacity, closed_max; /* up to twice so many in between */
    struct trk_life *merged;                          /* by command */
    size_t merged_count, merged_capacity;

    uint64_t ever;              /* lives that were ever opened */
    uint32_t alive, most_alive; /* open and not ended; the most since the last trk__book_interval */
};

/* `closed_max`: how many lives are kept one by one. */
void trk__book_init(struct trk_process_book *book, size_t closed_max);
void trk__book_done(struct trk_process_book *book);

/* Opens a life; one that is open already and not ended is returned as it is. NULL without memory. */
struct trk_life *trk__book_open(struct trk_process_book *book, pid_t pid, pid_t ppid);

/* NULL: not of the job, or closed. */
struct trk_life *trk__book_find(const struct trk_process_book *book, pid_t pid);

void trk__book_end(struct trk_process_book *book, struct trk_life *life);

/* Closes the ended lives for which `is_awaited` is false (NULL: all). */
void trk__book_close_ended(struct trk_process_book *book,
                           bool (*is_awaited)(void *state, struct trk_life *life), void *state);

/* Adds a life that nobody else will speak of. */
void trk__book_add(struct trk_process_book *book, const struct trk_life *life);

/* The most lives that were open at once since the last call. */
uint32_t trk__book_interval(struct trk_process_book *book);

/* Merges what is beyond the limit and sorts the rest by CPU time, then memory, largest first; who used the same comes in the order of start. */
void trk__book_sort(struct trk_process_book *book);

/* "sampled+events"...; static storage. */
const char *trk__life_source(const struct trk_life *life);

#endif
