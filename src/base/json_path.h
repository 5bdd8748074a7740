/* Single values of a JSON text that another program wrote: answers of metadata services and of Keeper. */
#ifndef TRK_BASE_JSON_PATH_H
#define TRK_BASE_JSON_PATH_H

/* A value by names with points between, elements of a list by their number: "gpus.0.name". A string without quotes,
 * anything else as JSON. NULL: there is none, or it is null. The caller frees it. */
char *trk__json_text_at(const char *json, const char *path);

/* NaN where there is none or it is no number; a boolean is 1 or 0. */
double trk__json_number_at(const char *json, const char *path);

#endif
