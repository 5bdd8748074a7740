/* A level in the words of the systems that jobs are described to. */
#ifndef TRK_ADVISE_PASTE_H
#define TRK_ADVISE_PASTE_H

#include "advise/advice.h"
#include "base/buffer.h"

/* The name of the index-th form; NULL past the end. */
const char *trk__paste_name(size_t index);

/* Appends the level in that form; what is not known has no line. -ENOENT: no such form. */
int trk__paste(const char *form, const struct trk_advice_level *level, struct trk_buffer *text);

#endif
