#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/real.h"
#include "run/run_file.h"
#include "run/run_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    CHUNK_BYTES = 1 << 20,
    BLOCK_MAX_BYTES = 64 << 20,
    HEAD_MAX_BYTES = 1 << 20,
    LAYOUTS_MAX = 256,
    SPANS_MAX = 1 << 20,
    TRAILER_BYTES = 16
};

static const char MAGIC[] = "TRKRUN1\n", FOOTER_MAGIC[] = "TRKEND1\n";

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

/* All of it or a negative code; -EBADMSG: the file is shorter. */
static int read_at(int fd, void *data, size_t bytes, uint64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, (char *)data + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EBADMSG;
        done += (size_t)got;
    }
    return 0;
}

static bool block_is_right(const struct trk_block *block, const void *payload)
{
    uLong checksum = crc32(0, (const Bytef *)block, offsetof(struct trk_block, checksum));
    return block->checksum == (uint32_t)crc32(checksum, payload, (uInt)block->bytes);
}

/* The payload with a NUL behind it, which the caller frees. */
static int read_block(int fd, uint64_t offset, struct trk_block *ret_block, char **ret_payload)
{
    int code = read_at(fd, ret_block, sizeof *ret_block, offset);
    if (code < 0)
        return code;
    if (!ret_block->type || ret_block->bytes > BLOCK_MAX_BYTES)
        return -EBADMSG;
    TRK_CLEANUP_FREE char *payload = malloc((size_t)ret_block->bytes + 1);
    if (!payload)
        return -ENOMEM;
    code = read_at(fd, payload, ret_block->bytes, offset + sizeof *ret_block);
    if (code == 0 && !block_is_right(ret_block, payload))
        code = -EBADMSG;
    if (code < 0)
        return code;
    payload[ret_block->bytes] = '\0';
    *ret_payload = TRK_STEAL(payload);
    return 0;
}

static int add_layout(struct trk_run_reader *reader, const char *names, size_t len)
{
    if (reader->layouts == LAYOUTS_MAX)
        return -EBADMSG;
    void *grown = realloc(reader->layout, (reader->layouts + 1) * sizeof *reader->layout);
    if (!grown)
        return -ENOMEM;
    reader->layout = grown;
    TRK_CLEANUP_FREE struct trk_run_layout *layout = malloc(sizeof *layout);
    int code = layout ? trk__layout_take_names(layout, names, len) : -ENOMEM;
    if (code == 0)
        reader->layout[reader->layouts++] = TRK_STEAL(layout);
    return code;
}

static int add_rows(struct trk_run_reader *reader, uint64_t offset, uint64_t rows, uint32_t pitch)
{
    uint32_t layout = reader->layouts - 1;
    struct trk_run_span *last = reader->spans ? &reader->span[reader->spans - 1] : NULL;
    if (last && last->layout == layout && last->pitch == pitch &&
        last->offset + last->rows * pitch == offset) {
        last->rows += rows;
    } else {
        int code = trk__array_reserve(&reader->span, &reader->span_capacity, reader->spans + 1,
                                      sizeof *reader->span, SPANS_MAX);
        if (code < 0)
            return code == -ENOBUFS ? -EBADMSG : code;
        reader->span[reader->spans++] = (struct trk_run_span){.first_row = reader->rows,
                                                              .rows = rows,
                                                              .offset = offset,
                                                              .pitch = pitch,
                                                              .layout = layout};
    }
    reader->rows += rows;
    return 0;
}

/* ---- the growing file of the release before ------------------------------------------ */

struct growing_head {
    char magic[8];
    uint32_t order, head_bytes, columns, names_bytes, json_bytes, reserved;
};

static int open_growing(struct trk_run_reader *reader)
{
    enum { ORDER = 0x01020304 };
    struct growing_head head;
    int code = read_at(reader->fd, &head, sizeof head, 0);
    if (code < 0)
        return code;
    uint64_t needed = (uint64_t)sizeof head + head.names_bytes + head.json_bytes;
    if (head.order != ORDER || head.head_bytes > HEAD_MAX_BYTES || head.head_bytes % 8 ||
        needed > head.head_bytes || !head.columns)
        return -EBADMSG;
    size_t rest = (size_t)head.names_bytes + head.json_bytes;
    TRK_CLEANUP_FREE char *text = calloc(1, rest + 1);
    code = text ? read_at(reader->fd, text, rest, sizeof head) : -ENOMEM;
    if (code == 0)
        code = add_layout(reader, text, head.names_bytes);
    if (code == 0 && reader->layout[0]->columns != head.columns)
        code = -EBADMSG;
    if (code < 0)
        return code;
    reader->head = strdup(text + head.names_bytes);
    reader->is_growing_file = true;
    reader->end = head.head_bytes;
    return reader->head ? 0 : -ENOMEM;
}

static int refresh_growing(struct trk_run_reader *reader, uint64_t file_bytes)
{
    uint32_t pitch = reader->layout[0]->columns * (uint32_t)sizeof(double);
    uint64_t rows = (file_bytes > reader->end ? file_bytes - reader->end : 0) / pitch;
    int code = rows ? add_rows(reader, reader->end, rows, pitch) : 0;
    if (code == 0)
        reader->end += rows * pitch;
    return code;
}

/* ---- opening ------------------------------------------------------------------------- */

int trk__run_reader_open(struct trk_run_reader *reader, int dir_fd, const char *path)
{
    /* O_NONBLOCK: a pipe of that name is not waited for. */
    *reader = (struct trk_run_reader){
        .fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (reader->fd < 0)
        return -errno;
    trk__buffer_init(&reader->chunk, CHUNK_BYTES + BLOCK_MAX_BYTES);
    char magic[sizeof MAGIC - 1];
    struct trk_block block;
    int code = read_at(reader->fd, magic, sizeof magic, 0);
    if (code == 0 && memcmp(magic, "TRKROWS", sizeof magic) == 0) {
        code = open_growing(reader);
    } else if (code == 0) {
        reader->end = sizeof magic;
        code = memcmp(magic, MAGIC, sizeof magic) == 0
                   ? read_block(reader->fd, reader->end, &block, &reader->head)
                   : -EBADMSG;
        if (code == 0 && block.type != TRK_BLOCK_HEAD)
            code = -EBADMSG;
        if (code == 0)
            reader->end += sizeof block + padded(block.bytes);
    }
    if (code < 0)
        trk__run_reader_close(reader);
    return code;
}

void trk__run_reader_close(struct trk_run_reader *reader)
{
    for (uint32_t i = 0; i < reader->layouts; i++)
        free(reader->layout[i]);
    free(reader->layout);
    free(reader->span);
    free(reader->head);
    trk__buffer_done(&reader->chunk);
    if (reader->fd >= 0)
        close(reader->fd);
    *reader = (struct trk_run_reader){.fd = -1};
}

bool trk__run_reader_find_footer(struct trk_run_reader *reader)
{
    struct stat status;
    struct {
        uint64_t offset;
        char magic[sizeof FOOTER_MAGIC - 1];
    } trailer;
    _Static_assert(sizeof trailer == TRAILER_BYTES, "no padding");
    if (reader->footer)
        return true;
    if (reader->is_growing_file || fstat(reader->fd, &status) < 0 ||
        status.st_size < TRAILER_BYTES ||
        read_at(reader->fd, &trailer, sizeof trailer, (uint64_t)status.st_size - TRAILER_BYTES) <
            0 ||
        memcmp(trailer.magic, FOOTER_MAGIC, sizeof trailer.magic) != 0 || trailer.offset % 8)
        return false;
    struct trk_block block;
    char *payload = NULL;
    if (trailer.offset < (uint64_t)status.st_size &&
        read_block(reader->fd, trailer.offset, &block, &payload) == 0 &&
        block.type == TRK_BLOCK_FOOTER)
        reader->footer = trailer.offset;
    free(payload);
    return reader->footer;
}

/* ---- blocks -------------------------------------------------------------------------- */

static int take_block(struct trk_run_reader *reader, const struct trk_block *block,
                      const char *payload, uint64_t offset)
{
    switch (block->type) {
    case TRK_BLOCK_COLUMNS:
        return add_layout(reader, payload, block->bytes);
    case TRK_BLOCK_CHECKPOINT:
        reader->checkpoint = offset;
        return 0;
    case TRK_BLOCK_FOOTER:
        reader->footer = offset;
        return 0;
    case TRK_BLOCK_ROWS:
        break;
    default:
        return 0;
    }
    uint32_t row_bytes =
        reader->layouts ? reader->layout[reader->layouts - 1]->columns * (uint32_t)sizeof(double)
                        : 0;
    if (!row_bytes || block->bytes % row_bytes)
        return -EBADMSG;
    uint32_t rows = block->bytes / row_bytes;
    /* Blocks of one row each, which are nearly all, lie at one distance. */
    return add_rows(reader, offset + sizeof *block, rows,
                    rows == 1 ? (uint32_t)sizeof *block + row_bytes : row_bytes);
}

/* Goes through the blocks of a chunk that begins at reader->end. Returns the bytes that were used up; 0 with
 * *ret_needed where the first block is longer than the chunk. */
static size_t take_chunk(struct trk_run_reader *reader, size_t len, size_t *ret_needed,
                         int *ret_code)
{
    size_t at = 0;
    while (len - at >= sizeof(struct trk_block)) {
        struct trk_block block;
        const char *data = reader->chunk.data + at;
        memcpy(&block, data, sizeof block);
        size_t whole = sizeof block + (size_t)padded(block.bytes);
        if (!block.type || block.bytes > BLOCK_MAX_BYTES) {
            *ret_code = -EBADMSG;
            break;
        }
        if (whole > len - at) {
            *ret_needed = whole;
            break;
        }
        *ret_code = block_is_right(&block, data + sizeof block)
                        ? take_block(reader, &block, data + sizeof block, reader->end + at)
                        : -EBADMSG;
        if (*ret_code < 0)
            break;
        at += whole;
    }
    return at;
}

int trk__run_reader_refresh(struct trk_run_reader *reader)
{
    struct stat status;
    if (fstat(reader->fd, &status) < 0)
        return -errno;
    uint64_t file_bytes = (uint64_t)status.st_size;
    if (reader->is_growing_file)
        return refresh_growing(reader, file_bytes);
    int code = 0;
    for (size_t needed = 0; reader->end < file_bytes && code == 0;) {
        uint64_t left = file_bytes - reader->end;
        size_t len = needed > CHUNK_BYTES ? needed : CHUNK_BYTES;
        len = left < len ? (size_t)left : len;
        trk__buffer_clear(&reader->chunk);
        code = trk__buffer_reserve(&reader->chunk, len);
        if (code == 0)
            code = read_at(reader->fd, reader->chunk.data, len, reader->end);
        if (code < 0)
            break;
        needed = 0;
        size_t used = take_chunk(reader, len, &needed, &code);
        reader->end += used;
        if (!used && needed <= len)
            break; /* less than a block is left */
        if (needed > left - used)
            break;
    }
    trk__buffer_done(&reader->chunk);
    trk__buffer_init(&reader->chunk, CHUNK_BYTES + BLOCK_MAX_BYTES);
    /* What is not whole is a tail that is being written, or was when its writer ended. */
    return code == -EBADMSG ? 0 : code;
}

static int take_parts_at(struct trk_run_reader *reader, uint64_t offset, struct trk_run *run)
{
    struct trk_block block;
    char *payload;
    int code = read_block(reader->fd, offset, &block, &payload);
    if (code < 0)
        return code;
    code = trk__run_take_text(payload, strlen(payload), run);
    free(payload);
    return code;
}

int trk__run_reader_parts(struct trk_run_reader *reader, struct trk_run *run)
{
    int code = trk__run_take_text(reader->head, strlen(reader->head), run);
    uint64_t last = reader->footer ? reader->footer : reader->checkpoint;
    return code < 0 || !last ? code : take_parts_at(reader, last, run);
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Rows [from, from + count) of a span, in pieces of a chunk. */
static int read_span(struct trk_run_reader *reader, const struct trk_run_span *span, uint64_t from,
                     uint64_t count, size_t index, char *chunk, struct trk_run_tables *tables)
{
    const struct trk_run_layout *layout = reader->layout[span->layout];
    const size_t row_bytes = layout->columns * sizeof(double);
    double values[TRK_LAYOUT_COLUMNS_MAX];
    while (count) {
        uint64_t piece = CHUNK_BYTES / span->pitch;
        piece = count < piece ? count : piece;
        int code = read_at(reader->fd, chunk, (size_t)(piece - 1) * span->pitch + row_bytes,
                           span->offset + from * span->pitch);
        if (code < 0)
            return code;
        for (uint64_t row = 0; row < piece; row++) {
            memcpy(values, chunk + row * span->pitch, row_bytes);
            trk__layout_store(layout, values, index++, tables);
        }
        from += piece;
        count -= piece;
    }
    return 0;
}

int trk__run_reader_tables(struct trk_run_reader *reader, uint64_t first, uint64_t count,
                           struct trk_run_tables *ret_tables)
{
    static const struct trk_run_layout none;
    first = first < reader->rows ? first : reader->rows;
    count = count && count < reader->rows - first ? count : reader->rows - first;
    const struct trk_run_layout *layout =
        reader->layouts ? reader->layout[reader->layouts - 1] : &none;
    struct trk_run_tables tables;
    int code = trk__layout_make_tables(layout, (size_t)count, &tables);
    if (code < 0)
        return code;
    TRK_CLEANUP_FREE char *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        code = -ENOMEM;
    for (size_t i = 0; i < reader->spans && code == 0; i++) {
        const struct trk_run_span *span = &reader->span[i];
        uint64_t end = span->first_row + span->rows, last = first + count;
        if (end <= first || span->first_row >= last)
            continue;
        uint64_t from = span->first_row < first ? first - span->first_row : 0;
        uint64_t rows = (end < last ? end : last) - span->first_row - from;
        code = read_span(reader, span, from, rows, (size_t)(span->first_row + from - first), chunk,
                         &tables);
    }
    if (code < 0)
        trk__run_tables_done(&tables);
    else
        *ret_tables = tables;
    return code;
}

/* ---- its writer ---------------------------------------------------------------------- */

/* The start of a process in clock ticks; 0: there is none, or it is a zombie. */
static uint64_t start_ticks_of(int pid)
{
    char path[64], stat[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (trk__file_read_small_at(AT_FDCWD, path, stat, sizeof stat) < 0)
        return 0;
    const char *at = strrchr(stat, ')'); /* the name may have brackets of its own */
    if (!at || !at[1] || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (int field = 2; at && field < 22; field++) /* 22: starttime, see proc(5) */
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

void trk__run_tracker_here(struct trk_run_tracker *ret_tracker)
{
    struct trk_run_tracker *here = ret_tracker;
    trk__fields_init(&trk__run_tracker_fields, here);
    here->object.present = TRK_OBJECT_ALL;
    here->pid = getpid();
    trk__file_read_small_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", here->boot_id,
                            sizeof here->boot_id);
    here->boot_id[strcspn(here->boot_id, "\n")] = '\0';
    ssize_t len =
        readlink("/proc/self/ns/pid", here->pid_namespace, sizeof here->pid_namespace - 1);
    here->pid_namespace[len > 0 ? len : 0] = '\0';
    here->start_ticks = start_ticks_of(here->pid);
}

/* A lock that another process holds shows that the tracker runs, on whichever host. A free lock shows that it has exited on
 * this boot alone: a network file system need not pass locks on. */
enum trk_run_state trk__run_reader_state(const struct trk_run_reader *reader,
                                         const struct trk_run_tracker *tracker)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    bool can_ask = !reader->is_growing_file && fcntl(reader->fd, F_OFD_GETLK, &whole) == 0;
    if (can_ask && whole.l_type == F_WRLCK)
        return TRK_RUN_RUNNING;
    struct trk_run_tracker here;
    trk__run_tracker_here(&here);
    bool same_boot = *here.boot_id && strcmp(here.boot_id, tracker->boot_id) == 0;
    if (!same_boot)
        return TRK_RUN_UNKNOWN;
    if (can_ask)
        return TRK_RUN_INTERRUPTED;
    if (strcmp(here.pid_namespace, tracker->pid_namespace) != 0)
        return TRK_RUN_UNKNOWN;
    return start_ticks_of(tracker->pid) == tracker->start_ticks ? TRK_RUN_RUNNING
                                                                : TRK_RUN_INTERRUPTED;
}
