/* The routines are registered, and looked up in no other way. */
#include "r_binding.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ROUTINE(name, arguments)                                                                   \
    {                                                                                              \
        #name, (DL_FUNC)(void (*)(void))&name, arguments                                           \
    }

static const R_CallMethodDef routines[] = {ROUTINE(r_tracker_new, 1),
                                           ROUTINE(r_tracker_start, 1),
                                           ROUTINE(r_tracker_stop, 1),
                                           ROUTINE(r_tracker_running, 1),
                                           ROUTINE(r_tracker_settings, 1),
                                           ROUTINE(r_tracker_n_samples, 1),
                                           ROUTINE(r_tracker_wait, 3),
                                           ROUTINE(r_tracker_load, 1),
                                           ROUTINE(r_tracker_loads, 1),
                                           ROUTINE(r_tracker_save, 2),
                                           ROUTINE(r_tracker_mark, 3),
                                           ROUTINE(r_tracker_frame, 6),
                                           ROUTINE(r_tracker_server_info, 1),
                                           ROUTINE(r_tracker_cloud_info, 1),
                                           ROUTINE(r_tracker_snapshot, 1),
                                           ROUTINE(r_tracker_stats, 1),
                                           ROUTINE(r_tracker_totals, 1),
                                           ROUTINE(r_tracker_processes, 1),
                                           ROUTINE(r_tracker_report, 4),
                                           ROUTINE(r_server_info, 0),
                                           ROUTINE(r_cloud_info, 0),
                                           ROUTINE(r_stats_aggregate, 1),
                                           ROUTINE(r_recommend_classic, 1),
                                           ROUTINE(r_recommend_servers, 6),
                                           ROUTINE(r_version, 0),
                                           {NULL, NULL, 0}};

/* R calls it by this name when the package is loaded. */
attribute_visible void R_init_resource_tracker(DllInfo *dll);

void R_init_resource_tracker(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
