#include "account/process_book.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_FIRST = 64, CLOSED_FIRST = 32, COMMANDS_MAX = 1000, REMOVED = -1 };

void trk__book_init(struct trk_process_book *book, size_t closed_max)
{
    *book = (struct trk_process_book){.closed_max = closed_max};
}

void trk__book_done(struct trk_process_book *book)
{
    free(book->open);
    free(book->closed);
    free(book->merged);
    trk__book_init(book, book->closed_max);
}

/* ---- open lives ---- */

/* The place of `pid`, or the empty one where the search for it ends. */
static struct trk_life *place_of(const struct trk_process_book *book, pid_t pid)
{
    size_t mask = book->open_places - 1;
    size_t at = (uint32_t)pid * 2654435761u & mask;
    while (book->open[at].pid != 0 && book->open[at].pid != pid)
        at = (at + 1) & mask;
    return &book->open[at];
}

/* At most half full, counting what was removed: the search always ends. */
static bool make_room(struct trk_process_book *book)
{
    if (book->open_places && book->open_used * 2 < book->open_places)
        return true;
    size_t places = PLACES_FIRST;
    while (places < book->open_count * 4)
        places *= 2;
    struct trk_process_book fresh = *book;
    fresh.open = calloc(places, sizeof *fresh.open);
    if (!fresh.open)
        return false;
    fresh.open_places = places;
    fresh.open_used = book->open_count;
    for (size_t i = 0; i < book->open_places; i++)
        if (book->open[i].pid > 0)
            *place_of(&fresh, book->open[i].pid) = book->open[i];
    free(book->open);
    *book = fresh;
    return true;
}

struct trk_life *trk__book_find(const struct trk_process_book *book, pid_t pid)
{
    if (!book->open_places || pid <= 0)
        return NULL;
    struct trk_life *life = place_of(book, pid);
    return life->pid ? life : NULL;
}

static void add_closed(struct trk_process_book *book, const struct trk_life *life);

struct trk_life *trk__book_open(struct trk_process_book *book, pid_t pid, pid_t ppid)
{
    struct trk_life *life = trk__book_find(book, pid);
    if (life && !life->ended)
        return life;
    if (life) { /* the pid is used again: nothing more can come for the one before */
        add_closed(book, life);
        book->ended_count--;
    } else {
        if (pid <= 0 || !make_room(book))
            return NULL;
        life = place_of(book, pid);
        book->open_used++;
        book->open_count++;
    }
    *life = (struct trk_life){.pid = pid, .ppid = ppid, .merged = 1};
    book->ever++;
    if (++book->alive > book->most_alive)
        book->most_alive = book->alive;
    return life;
}

void trk__book_end(struct trk_process_book *book, struct trk_life *life)
{
    if (life->ended)
        return;
    life->ended = true;
    book->ended_count++;
    book->alive--;
}

void trk__book_close_ended(struct trk_process_book *book,
                           bool (*is_awaited)(void *state, struct trk_life *life), void *state)
{
    if (!book->ended_count)
        return;
    for (size_t i = 0; i < book->open_places; i++) {
        struct trk_life *life = &book->open[i];
        if (life->pid <= 0 || !life->ended || (is_awaited && is_awaited(state, life)))
            continue;
        add_closed(book, life);
        life->pid = REMOVED;
        book->open_count--;
        book->ended_count--;
    }
}

uint32_t trk__book_interval(struct trk_process_book *book)
{
    uint32_t most = book->most_alive;
    book->most_alive = book->alive;
    return most;
}

/* ---- closed lives ---- */

static int by_size(const void *a, const void *b)
{
    const struct trk_life *one = a, *two = b;
    if (one->cpu_ns != two->cpu_ns)
        return one->cpu_ns < two->cpu_ns ? 1 : -1;
    if (one->peak_rss_bytes != two->peak_rss_bytes)
        return one->peak_rss_bytes < two->peak_rss_bytes ? 1 : -1;
    if (one->start_time != two->start_time)
        return one->start_time < two->start_time ? -1 : 1;
    return one->pid != two->pid ? one->pid < two->pid ? -1 : 1 : 0;
}

static void sort_lives(struct trk_life *lives, size_t count)
{
    if (count)
        qsort(lives, count, sizeof *lives, by_size);
}

static void merge_into(struct trk_life *sum, const struct trk_life *life)
{
    sum->merged += life->merged;
    sum->told_by |= life->told_by;
    sum->has_cpu |= life->has_cpu;
    sum->has_bytes |= life->has_bytes;
    sum->cpu_ns += life->cpu_ns;
    sum->read_bytes += life->read_bytes;
    sum->write_bytes += life->write_bytes;
    if (life->peak_rss_bytes > sum->peak_rss_bytes)
        sum->peak_rss_bytes = life->peak_rss_bytes;
    if (life->start_time > 0 && (sum->start_time <= 0 || life->start_time < sum->start_time))
        sum->start_time = life->start_time;
    if (life->end_time > sum->end_time)
        sum->end_time = life->end_time;
}

/* The line of a command; the last one stands for all commands beyond the limit. */
static struct trk_life *merged_line(struct trk_process_book *book, const char *comm)
{
    for (size_t i = 0; i < book->merged_count; i++)
        if (strcmp(book->merged[i].comm, comm) == 0)
            return &book->merged[i];
    if (book->merged_count == COMMANDS_MAX)
        return &book->merged[COMMANDS_MAX - 1];
    if (book->merged_count == book->merged_capacity) {
        size_t capacity = book->merged_capacity ? book->merged_capacity * 2 : CLOSED_FIRST;
        struct trk_life *merged = realloc(book->merged, capacity * sizeof *merged);
        if (!merged)
            return NULL;
        book->merged = merged;
        book->merged_capacity = capacity;
    }
    struct trk_life *line = &book->merged[book->merged_count++];
    *line = (struct trk_life){.merged = 0};
    memcpy(line->comm, comm, sizeof line->comm);
    return line;
}

static void merge_life(struct trk_process_book *book, const struct trk_life *life)
{
    struct trk_life *line = merged_line(book, life->comm);
    if (line)
        merge_into(line, life);
}

static void merge_smallest(struct trk_process_book *book)
{
    sort_lives(book->closed, book->closed_count);
    for (size_t i = book->closed_max; i < book->closed_count; i++)
        merge_life(book, &book->closed[i]);
    if (book->closed_count > book->closed_max)
        book->closed_count = book->closed_max;
}

void trk__book_sort(struct trk_process_book *book)
{
    merge_smallest(book);
    sort_lives(book->merged, book->merged_count);
}

/* Twice as many before the smallest are merged, so that the sorting is paid by many. */
static bool reserve_closed(struct trk_process_book *book)
{
    size_t most = book->closed_max * 2;
    if (book->closed_count >= most)
        merge_smallest(book);
    if (book->closed_count < book->closed_capacity)
        return true;
    size_t capacity = book->closed_capacity ? book->closed_capacity * 2 : CLOSED_FIRST;
    if (capacity > most)
        capacity = most;
    struct trk_life *closed = realloc(book->closed, capacity * sizeof *closed);
    if (!closed || capacity <= book->closed_count)
        return false;
    book->closed = closed;
    book->closed_capacity = capacity;
    return true;
}

static void add_closed(struct trk_process_book *book, const struct trk_life *life)
{
    if (reserve_closed(book))
        book->closed[book->closed_count++] = *life;
    else
        merge_life(book, life);
}

void trk__book_add(struct trk_process_book *book, const struct trk_life *life)
{
    add_closed(book, life);
    book->ever++;
}

const char *trk__life_source(const struct trk_life *life)
{
    static const char *const names[] = {
        "",
        "sampled",
        "wait4",
        "wait4+sampled",
        "events",
        "events+sampled",
        "wait4+events",
        "wait4+events+sampled",
        "taskstats",
        "taskstats+sampled",
        "wait4+taskstats",
        "wait4+taskstats+sampled",
        "events+taskstats",
        "events+taskstats+sampled",
        "wait4+events+taskstats",
        "wait4+events+taskstats+sampled",
    };
    if (life->told_by & TRK_LIFE_PTRACE)
        return "ptrace";
    return names[life->told_by & (sizeof names / sizeof *names - 1)];
}
