/* A tracker's life: made, started, waited for, stopped, loaded, forgotten. */
#include "r_binding.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- between R and the core ---------------------------------------------------------- */

void r_fail(const struct trk_error *error)
{
    Rf_errorcall(R_NilValue, "%s", error->message);
}

static SEXP make_text(void *text)
{
    return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
}

SEXP r_text(char *text)
{
    return R_ExecWithCleanup(make_text, text, trk_free, text);
}

trk_tracker *r_tracker(SEXP pointer)
{
    trk_tracker *tracker = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (!tracker)
        Rf_errorcall(R_NilValue, "this tracker belongs to another R process: keep trackers with "
                                 "$dump() and ResourceTracker$load()");
    return tracker;
}

/* Also at R's end, so that no tracker is left behind. In a process that R has forked it frees memory alone. */
static void finalize(SEXP pointer)
{
    trk_tracker_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* Made before the tracker, so that R can't run out of memory while nobody owns it. */
static SEXP new_pointer(void)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    return pointer;
}

static SEXP element(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    Rf_error("the option %s is missing", name);
}

static bool flag(SEXP list, const char *name)
{
    return Rf_asLogical(element(list, name)) == TRUE;
}

/* ---- life ---------------------------------------------------------------------------- */

SEXP r_tracker_new(SEXP list)
{
    struct trk_tracker_options options;
    struct trk_error error = {0};
    trk_tracker *tracker;
    trk_tracker_options_init(&options);
    options.pid = (pid_t)Rf_asInteger(element(list, "pid"));
    options.interval_seconds = Rf_asReal(element(list, "interval"));
    options.children = flag(list, "children");
    options.autostart = flag(list, "autostart");
    options.track_processes = flag(list, "track_processes");
    options.track_system = flag(list, "track_system");
    options.discover_server = flag(list, "discover_server");
    options.discover_cloud = flag(list, "discover_cloud");
    SEXP pointer = new_pointer();
    if (trk_tracker_new(&options, &tracker, &error) < 0)
        r_fail(&error);
    R_SetExternalPtrAddr(pointer, tracker);
    UNPROTECT(1);
    return pointer;
}

SEXP r_tracker_start(SEXP pointer)
{
    struct trk_error error = {0};
    if (trk_tracker_start(r_tracker(pointer), &error) < 0)
        r_fail(&error);
    return R_NilValue;
}

/* Whether it had to be stopped is the caller's question; what went wrong meanwhile is a warning, because the rows so
 * far are good. */
SEXP r_tracker_stop(SEXP pointer)
{
    struct trk_error error = {0};
    if (trk_tracker_stop(r_tracker(pointer), &error) < 0)
        Rf_warningcall(R_NilValue, "%s", error.message);
    return R_NilValue;
}

SEXP r_tracker_running(SEXP pointer)
{
    return Rf_ScalarLogical(trk_tracker_running(r_tracker(pointer)));
}

static void put(SEXP list, SEXP names, int index, const char *name, SEXP value)
{
    SET_VECTOR_ELT(list, index, value);
    SET_STRING_ELT(names, index, Rf_mkChar(name));
}

SEXP r_tracker_settings(SEXP pointer)
{
    enum { SETTINGS = 10 };
    struct trk_tracker_options options = {.size = sizeof options};
    double start_time, stop_time;
    trk_tracker_settings(r_tracker(pointer), &options, &start_time, &stop_time);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, SETTINGS));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, SETTINGS));
    put(list, names, 0, "pid", Rf_ScalarInteger(options.pid));
    put(list, names, 1, "children", Rf_ScalarLogical(options.children));
    put(list, names, 2, "interval", Rf_ScalarReal(options.interval_seconds));
    put(list, names, 3, "autostart", Rf_ScalarLogical(options.autostart));
    put(list, names, 4, "track_processes", Rf_ScalarLogical(options.track_processes));
    put(list, names, 5, "track_system", Rf_ScalarLogical(options.track_system));
    put(list, names, 6, "discover_server", Rf_ScalarLogical(options.discover_server));
    put(list, names, 7, "discover_cloud", Rf_ScalarLogical(options.discover_cloud));
    put(list, names, 8, "start_time", Rf_ScalarReal(isnan(start_time) ? NA_REAL : start_time));
    put(list, names, 9, "stop_time", Rf_ScalarReal(isnan(stop_time) ? NA_REAL : stop_time));
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

/* ---- samples ------------------------------------------------------------------------- */

SEXP r_tracker_n_samples(SEXP pointer)
{
    return Rf_ScalarReal((double)trk_tracker_n_samples(r_tracker(pointer)));
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The waiting is done here, so that Ctrl-C ends it; whether it was enough, and in which words not, is the
 * core's to say. */
SEXP r_tracker_wait(SEXP pointer, SEXP n, SEXP timeout)
{
    static const struct timespec PAUSE = {.tv_nsec = 10 * 1000 * 1000};
    trk_tracker *tracker = r_tracker(pointer);
    uint64_t wanted = (uint64_t)Rf_asReal(n);
    double start_time, timeout_seconds = Rf_asReal(timeout);
    trk_tracker_settings(tracker, NULL, &start_time, NULL);
    while (trk_tracker_running(tracker) && trk_tracker_n_samples(tracker) < wanted &&
           trk_tracker_check(tracker, NULL) == 0 && now_seconds() - start_time <= timeout_seconds) {
        R_CheckUserInterrupt();
        nanosleep(&PAUSE, NULL);
    }
    struct trk_error error = {0};
    if (trk_tracker_wait_for_samples(tracker, wanted, timeout_seconds, &error) < 0)
        r_fail(&error);
    return R_NilValue;
}

/* ---- records ------------------------------------------------------------------------- */

SEXP r_tracker_load(SEXP path)
{
    struct trk_error error = {0};
    trk_tracker *tracker;
    SEXP pointer = new_pointer();
    if (trk_tracker_load(Rf_translateChar(STRING_ELT(path, 0)), &tracker, &error) < 0)
        r_fail(&error);
    R_SetExternalPtrAddr(pointer, tracker);
    UNPROTECT(1);
    return pointer;
}

SEXP r_tracker_loads(SEXP text)
{
    struct trk_error error = {0};
    trk_tracker *tracker;
    SEXP pointer = new_pointer();
    const char *data = Rf_translateCharUTF8(STRING_ELT(text, 0));
    if (trk_tracker_loads(data, strlen(data), &tracker, &error) < 0)
        r_fail(&error);
    R_SetExternalPtrAddr(pointer, tracker);
    UNPROTECT(1);
    return pointer;
}

SEXP r_tracker_save(SEXP pointer, SEXP path)
{
    struct trk_error error = {0};
    if (trk_tracker_save(r_tracker(pointer), Rf_translateChar(STRING_ELT(path, 0)), &error) < 0)
        r_fail(&error);
    return R_NilValue;
}

SEXP r_tracker_mark(SEXP pointer, SEXP kind, SEXP name)
{
    struct trk_error error = {0};
    const char *text = Rf_translateCharUTF8(STRING_ELT(name, 0));
    if (trk_mark(r_tracker(pointer), (enum trk_mark_kind)Rf_asInteger(kind), text, &error) < 0)
        r_fail(&error);
    return R_NilValue;
}
