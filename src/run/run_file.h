/* The run file: a log of blocks that only grows. A reader stops at the first block that is not whole, so a tracker that
 * is killed or a machine that loses power costs at most what was not written.
 *
 *   "TRKRUN1\n"
 *   head        identity of the run and of the process that writes it
 *   columns     names of the values of a row; again when a device appears
 *   rows        one or more rows of doubles
 *   checkpoint  totals and largest processes so far, at most every 60 s
 *   footer      the whole of what is known at the end; a file with a footer is finished
 *
 * A block is a struct trk_block and its payload, padded to 8 bytes. The payload of head, checkpoint and footer is JSON
 * with the names of a snapshot, so that later releases can add to it; the footer's ends with its own offset, so that a
 * list of runs reads the two ends of each file. Blocks of unknown type are skipped. The writer holds an open file
 * description lock (fcntl(2)) on the file as long as it runs. */
#ifndef TRK_RUN_RUN_FILE_H
#define TRK_RUN_RUN_FILE_H

#include "run/run.h"
#include "run/run_layout.h"

enum { TRK_RUN_PATH_SIZE = 1200 };

enum trk_block_type {
    TRK_BLOCK_HEAD = 1,
    TRK_BLOCK_COLUMNS,
    TRK_BLOCK_ROWS,
    TRK_BLOCK_CHECKPOINT,
    TRK_BLOCK_FOOTER
};

/* In the byte order of the machine; the checksum of a file from another one does not match. */
struct trk_block {
    uint32_t type;
    uint32_t bytes;    /* of the payload */
    uint32_t checksum; /* CRC-32 of type, bytes and payload */
    uint32_t reserved; /* 0 */
};

/* ---- writing ------------------------------------------------------------------------- */

struct trk_run_writer {
    int fd; /* -1: the file is not made yet */
    char path[TRK_RUN_PATH_SIZE];
    enum trk_rows rows_kind;
    struct trk_run_layout layout; /* no columns: none was written yet */
    struct trk_buffer pending;    /* blocks that are not in the file yet */
    uint64_t file_bytes, rows;
    int failure; /* the first */
};

/* Prepares; nothing is made. */
void trk__run_writer_init(struct trk_run_writer *writer, enum trk_rows rows);
void trk__run_writer_done(struct trk_run_writer *writer);

/* Each adds a block to what is pending. */
void trk__run_writer_head(struct trk_run_writer *writer, const struct trk_run *run);
void trk__run_writer_row(struct trk_run_writer *writer, const struct trk_row *row);
void trk__run_writer_checkpoint(struct trk_run_writer *writer, const struct trk_run *run);
void trk__run_writer_footer(struct trk_run_writer *writer, const struct trk_run *run);

/* Writes what is pending with one write(2); the first call makes the file, with `keep` locked for as long as it is
 * open. A block that does not fit is taken back. */
int trk__run_writer_flush(struct trk_run_writer *writer, bool keep);

/* The file and its name are on the disk when this returns. */
int trk__run_writer_sync(struct trk_run_writer *writer);

/* ---- reading ------------------------------------------------------------------------- */

/* Rows that lie behind one another in the file. */
struct trk_run_span {
    uint64_t first_row, rows;
    uint64_t offset; /* of the first row's values */
    uint32_t pitch;  /* bytes from one row to the next */
    uint32_t layout;
};

struct trk_run_reader {
    int fd;
    bool is_growing_file; /* of the release before: a head, then rows without blocks */
    char *head;           /* JSON */
    uint64_t end;         /* behind the last whole block that was read */
    uint64_t rows;
    uint64_t checkpoint, footer; /* offsets of the last ones; 0: none */
    struct trk_run_layout **layout;
    uint32_t layouts;
    struct trk_run_span *span;
    uint32_t spans, span_capacity;
    struct trk_buffer chunk;
};

/* Opens it and reads the head alone. -EBADMSG: not a run file, or its head is not whole. */
int trk__run_reader_open(struct trk_run_reader *reader, int dir_fd, const char *path);
void trk__run_reader_close(struct trk_run_reader *reader);

/* Finds the footer by the end of the file, without the rows; true: there is one. */
bool trk__run_reader_find_footer(struct trk_run_reader *reader);

/* Takes the blocks that were added since the last call. */
int trk__run_reader_refresh(struct trk_run_reader *reader);

/* What head, last checkpoint and footer say, as far as refresh or find_footer has found them. */
int trk__run_reader_parts(struct trk_run_reader *reader, struct trk_run *run);

/* `count` rows from `first` on; count 0: to the end. */
int trk__run_reader_tables(struct trk_run_reader *reader, uint64_t first, uint64_t count,
                           struct trk_run_tables *ret_tables);

/* Whether the process that writes the file still does. */
enum trk_run_state trk__run_reader_state(const struct trk_run_reader *reader,
                                         const struct trk_run_tracker *tracker);

/* This process, as the head of a run file names it. */
void trk__run_tracker_here(struct trk_run_tracker *ret_tracker);

#endif
