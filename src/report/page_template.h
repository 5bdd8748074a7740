/* The page without a run, made from web/ at build time. */
#ifndef TRK_REPORT_PAGE_TEMPLATE_H
#define TRK_REPORT_PAGE_TEMPLATE_H

#include <stddef.h>

/* Where the run's JSON goes. */
#define TRK_PAGE_PLACE "@RUN_DATA@"

extern const unsigned char trk__page_template[];
extern const size_t trk__page_template_len; /* 0: built without it */

#endif
