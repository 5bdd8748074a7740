/* Text on its way into a gzip file. */
#ifndef TRK_BASE_GZIP_OUTPUT_H
#define TRK_BASE_GZIP_OUTPUT_H

#include "base/buffer.h"

struct trk_gzip_output;

/* `text` collects what is to be written; flush takes it from there. The descriptor stays the caller's. */
int trk__gzip_output_new(int fd, struct trk_gzip_output **ret_output);

/* Packs and empties the buffer. `last`: closes the gzip data. */
int trk__gzip_output_flush(struct trk_gzip_output *output, struct trk_buffer *text, int last);
void trk__gzip_output_free(struct trk_gzip_output *output);

/* A gzip file of a text so short that packing it would cost more than it saves: one stored block, one write. */
enum { TRK_GZIP_STORED_MAX = 65535 };
int trk__gzip_write_stored(int fd, const char *text, size_t len);

#endif
