/* What the files of the R binding share. Nothing here keeps state: a tracker lives in an external pointer,
 * whose finalizer stops and frees it. */
#ifndef TRK_R_BINDING_H
#define TRK_R_BINDING_H

#include <resource_tracker.h>

/* R's own names are short ones that clash with others' without this. */
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* The tracker behind an external pointer; an R error where there is none (any more). */
trk_tracker *r_tracker(SEXP pointer);

/* A text of the core as an R string in UTF-8. Frees the text, also where R runs out of memory. */
SEXP r_text(char *text);

/* Ends the call with the core's message as an R error. Nothing may be held. */
void r_fail(const struct trk_error *error) __attribute__((noreturn));

/* ---- routines that R calls ----------------------------------------------------------- */

SEXP r_tracker_new(SEXP options);
SEXP r_tracker_start(SEXP pointer);
SEXP r_tracker_stop(SEXP pointer);
SEXP r_tracker_running(SEXP pointer);
SEXP r_tracker_settings(SEXP pointer);
SEXP r_tracker_n_samples(SEXP pointer);
SEXP r_tracker_wait(SEXP pointer, SEXP n, SEXP timeout_seconds);
SEXP r_tracker_load(SEXP path);
SEXP r_tracker_loads(SEXP text);
SEXP r_tracker_save(SEXP pointer, SEXP path);
SEXP r_tracker_mark(SEXP pointer, SEXP kind, SEXP name);
SEXP r_tracker_frame(SEXP pointer, SEXP rows, SEXP bytes, SEXP human_names, SEXP system_prefix,
                     SEXP process_prefix);
SEXP r_tracker_server_info(SEXP pointer);
SEXP r_tracker_cloud_info(SEXP pointer);
SEXP r_tracker_snapshot(SEXP pointer);
SEXP r_tracker_stats(SEXP pointer);
SEXP r_tracker_totals(SEXP pointer);
SEXP r_tracker_processes(SEXP pointer);
SEXP r_tracker_report(SEXP pointer, SEXP integration, SEXP historical_stats, SEXP status_failed);
SEXP r_server_info(void);
SEXP r_cloud_info(void);
SEXP r_stats_aggregate(SEXP texts);
SEXP r_recommend_classic(SEXP stats);
SEXP r_recommend_servers(SEXP needs, SEXP filters, SEXP online, SEXP spot, SEXP run_seconds, SEXP cloud_info);
SEXP r_version(void);

#endif
