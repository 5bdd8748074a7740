#include "base/cleanup.h"
#include "base/file.h"
#include "platform/os.h"
#include "run/run_file.h"
#include "run/run_json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PENDING_MAX_BYTES = 64 << 20, FILE_MODE = 0666, ALIGN = 8 };

static const char MAGIC[] = "TRKRUN1\n", FOOTER_MAGIC[] = "TRKEND1\n";

void trk__run_writer_init(struct trk_run_writer *writer, enum trk_rows rows)
{
    *writer = (struct trk_run_writer){.fd = -1, .rows_kind = rows};
    trk__buffer_init(&writer->pending, PENDING_MAX_BYTES);
}

void trk__run_writer_done(struct trk_run_writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    writer->fd = -1;
    trk__buffer_done(&writer->pending);
}

/* ---- blocks -------------------------------------------------------------------------- */

static void pad(struct trk_buffer *pending)
{
    static const char zeros[ALIGN] = "";
    trk__buffer_add(pending, zeros, (ALIGN - pending->len % ALIGN) % ALIGN);
}

/* The payload is appended to `pending` by the caller between the two. */
static size_t begin_block(struct trk_run_writer *writer)
{
    static const struct trk_block empty;
    size_t at = writer->pending.len;
    trk__buffer_add(&writer->pending, (const char *)&empty, sizeof empty);
    return at;
}

static void end_block(struct trk_run_writer *writer, enum trk_block_type type, size_t at)
{
    struct trk_buffer *pending = &writer->pending;
    if (pending->failure)
        return;
    struct trk_block block = {.type = type,
                              .bytes = (uint32_t)(pending->len - at - sizeof(struct trk_block))};
    uLong checksum = crc32(0, (const Bytef *)&block, offsetof(struct trk_block, checksum));
    block.checksum = (uint32_t)crc32(checksum, (const Bytef *)pending->data + at + sizeof block,
                                     (uInt)block.bytes);
    memcpy(pending->data + at, &block, sizeof block);
    pad(pending);
}

void trk__run_writer_head(struct trk_run_writer *writer, const struct trk_run *run)
{
    trk__buffer_add_text(&writer->pending, MAGIC);
    size_t at = begin_block(writer);
    struct trk_json json = trk__json(&writer->pending);
    trk__run_put_head(&json, run);
    end_block(writer, TRK_BLOCK_HEAD, at);
}

void trk__run_writer_row(struct trk_run_writer *writer, const struct trk_row *row)
{
    struct trk_run_layout *layout = &writer->layout;
    double values[TRK_LAYOUT_COLUMNS_MAX];
    uint32_t gpus = trk__layout_gpus_of(row);
    if (!layout->columns || gpus > layout->gpus) {
        trk__layout_init(layout, writer->rows_kind, gpus);
        size_t at = begin_block(writer);
        trk__layout_put_names(layout, &writer->pending);
        end_block(writer, TRK_BLOCK_COLUMNS, at);
    }
    trk__layout_pack(layout, row, values);
    size_t at = begin_block(writer);
    trk__buffer_add(&writer->pending, (const char *)values, layout->columns * sizeof *values);
    end_block(writer, TRK_BLOCK_ROWS, at);
    writer->rows++;
}

void trk__run_writer_checkpoint(struct trk_run_writer *writer, const struct trk_run *run)
{
    size_t at = begin_block(writer);
    struct trk_json json = trk__json(&writer->pending);
    trk__run_put_parts(&json, run);
    end_block(writer, TRK_BLOCK_CHECKPOINT, at);
}

/* Behind the JSON stand its place in the file and a mark, in the last 16 bytes. */
void trk__run_writer_footer(struct trk_run_writer *writer, const struct trk_run *run)
{
    uint64_t offset = writer->file_bytes + writer->pending.len;
    size_t at = begin_block(writer);
    struct trk_json json = trk__json(&writer->pending);
    trk__run_put_parts(&json, run);
    trk__buffer_add_char(&writer->pending, '\0'); /* ends the text, whatever the padding is */
    pad(&writer->pending);
    trk__buffer_add(&writer->pending, (const char *)&offset, sizeof offset);
    trk__buffer_add_text(&writer->pending, FOOTER_MAGIC);
    end_block(writer, TRK_BLOCK_FOOTER, at);
}

/* ---- the file ------------------------------------------------------------------------ */

/* Held by the open file description, so that it ends with the process however that ends. */
static void lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_OFD_SETLK, &whole); /* without locks a reader goes by the process */
}

int trk__run_writer_flush(struct trk_run_writer *writer, bool keep)
{
    struct trk_buffer *pending = &writer->pending;
    int code = pending->failure;
    if (code == 0 && writer->fd < 0) {
        writer->fd = open(writer->path,
                          O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, FILE_MODE);
        code = writer->fd < 0 ? -errno : 0;
        if (code == 0 && keep)
            lock(writer->fd);
    }
    if (code == -ENOENT) /* the caller may make the folder and call again */
        return code;
    bool is_new = writer->file_bytes == 0;
    if (code == 0)
        code = trk__file_write_all(writer->fd, pending->data, pending->len);
    if (code == 0) {
        writer->file_bytes += pending->len;
    } else {
        /* Half a block would hide all that comes behind it. */
        if (writer->fd >= 0 && ftruncate(writer->fd, (off_t)writer->file_bytes) < 0)
            code = -EIO;
        if (writer->fd >= 0 && is_new) {
            unlink(writer->path);
            close(trk__steal_fd(&writer->fd));
        }
        if (!writer->failure)
            writer->failure = code;
    }
    trk__buffer_clear(pending);
    return code;
}

int trk__run_writer_sync(struct trk_run_writer *writer)
{
    if (writer->fd < 0 || trk__os_sync_data(writer->fd) < 0)
        return writer->fd < 0 ? 0 : -errno;
    char folder[TRK_RUN_PATH_SIZE];
    strcpy(folder, writer->path);
    char *slash = strrchr(folder, '/');
    strcpy(slash ? slash : folder, slash ? "/" : ".");
    TRK_CLEANUP_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some network file systems have no folders to sync. */
    return fd < 0 || (fsync(fd) < 0 && errno != EINVAL && errno != EBADF) ? -errno : 0;
}
