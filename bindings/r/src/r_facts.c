/* What a tracker knows beside its rows, as JSON texts that R parses, and the classic recommendation. */
#include "r_binding.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef int text_function(trk_tracker *, char **, struct trk_error *);

static SEXP text_of(SEXP pointer, text_function *ask)
{
    struct trk_error error = {0};
    char *text;
    if (ask(r_tracker(pointer), &text, &error) < 0)
        r_fail(&error);
    return r_text(text);
}

SEXP r_tracker_server_info(SEXP pointer)
{
    return text_of(pointer, trk_tracker_server_info);
}

SEXP r_tracker_cloud_info(SEXP pointer)
{
    return text_of(pointer, trk_tracker_cloud_info);
}

SEXP r_tracker_snapshot(SEXP pointer)
{
    return text_of(pointer, trk_tracker_snapshot);
}

SEXP r_tracker_totals(SEXP pointer)
{
    return text_of(pointer, trk_tracker_totals);
}

SEXP r_tracker_processes(SEXP pointer)
{
    return text_of(pointer, trk_tracker_processes);
}

static int usual_stats(trk_tracker *tracker, char **ret_json, struct trk_error *error)
{
    return trk_tracker_stats_json(tracker, NULL, 0, ret_json, error);
}

SEXP r_tracker_stats(SEXP pointer)
{
    return text_of(pointer, usual_stats);
}

/* NULL-terminated; R frees the array when the call returns. */
static const char *const *text_list(SEXP texts)
{
    R_xlen_t count = Rf_xlength(texts);
    const char **list = (void *)R_alloc((size_t)count + 1, sizeof *list);
    for (R_xlen_t i = 0; i < count; i++)
        list[i] = Rf_translateCharUTF8(STRING_ELT(texts, i));
    list[count] = NULL;
    return list;
}

SEXP r_stats_aggregate(SEXP texts)
{
    struct trk_error error = {0};
    char *text;
    if (trk_stats_aggregate(text_list(texts), (size_t)Rf_xlength(texts), &text, &error) < 0)
        r_fail(&error);
    return r_text(text);
}

static double known(double value)
{
    return isnan(value) ? NA_REAL : value;
}

/* stats: a matrix with a row for each run and the columns of struct trk_classic_stats. */
SEXP r_recommend_classic(SEXP stats)
{
    enum { NEEDS = 4 };
    R_xlen_t runs = Rf_nrows(stats);
    struct trk_classic_stats *list = (void *)R_alloc((size_t)runs + 1, sizeof *list);
    const double *value = REAL(stats);
    for (R_xlen_t i = 0; i < runs; i++)
        list[i] = (struct trk_classic_stats){.cpu_mean_cores = value[i],
                                             .memory_max_kib = value[i + runs],
                                             .gpu_mean_devices = value[i + 2 * runs],
                                             .gpu_max_devices = value[i + 3 * runs],
                                             .vram_max_mib = value[i + 4 * runs]};
    struct trk_classic_need need;
    trk_recommend_classic(list, (size_t)runs, &need);
    SEXP answer = Rf_allocVector(REALSXP, NEEDS);
    REAL(answer)[0] = known(need.cpu_cores);
    REAL(answer)[1] = known(need.memory_mib);
    REAL(answer)[2] = known(need.gpu_devices);
    REAL(answer)[3] = known(need.vram_mib);
    return answer;
}

/* needs: cpu, memory, gpu and vram as the classic rule gives them. */
/* Told only to who has not asked Keeper. */
static void advise_online(const struct trk_server_options *options, struct trk_error *error)
{
    size_t len = strlen(error->message);
    if (!options->online && (error->code == -ENOTSUP || error->code == -ENOENT))
        snprintf(error->message + len, sizeof error->message - len,
                 "; online = TRUE asks Spare Cores, which may know more");
}

SEXP r_recommend_servers(SEXP needs, SEXP filters, SEXP online, SEXP spot, SEXP run_seconds,
                         SEXP cloud_info)
{
    struct trk_server_options options;
    struct trk_error error = {0};
    char *text;
    trk_server_options_init(&options);
    options.cpu_cores = REAL(needs)[0];
    options.memory_mib = REAL(needs)[1];
    options.gpu_devices = REAL(needs)[2];
    options.vram_total_mib = REAL(needs)[3];
    options.filters = text_list(filters);
    options.online = Rf_asLogical(online) == TRUE;
    options.spot = Rf_asLogical(spot) == TRUE;
    options.run_seconds = Rf_asReal(run_seconds);
    options.cloud_info = Rf_translateCharUTF8(STRING_ELT(cloud_info, 0));
    if (trk_recommend_servers(&options, &text, &error) < 0) {
        advise_online(&options, &error);
        r_fail(&error);
    }
    return r_text(text);
}

SEXP r_tracker_report(SEXP pointer, SEXP integration, SEXP historical_stats, SEXP status_failed)
{
    struct trk_report_options options;
    struct trk_error error = {0};
    char *snapshot, *html = NULL;
    trk_report_options_init(&options);
    options.integration = Rf_translateCharUTF8(STRING_ELT(integration, 0));
    options.historical_stats = Rf_translateCharUTF8(STRING_ELT(historical_stats, 0));
    options.status_failed = Rf_asLogical(status_failed) == TRUE;
    int code = trk_tracker_snapshot(r_tracker(pointer), &snapshot, &error);
    if (code == 0) {
        code = trk_report(snapshot, strlen(snapshot), &options, &html, NULL, &error);
        trk_free(snapshot);
    }
    if (code < 0)
        r_fail(&error);
    return r_text(html);
}

SEXP r_server_info(void)
{
    struct trk_error error = {0};
    char *text;
    if (trk_server_info_json(NULL, &text, &error) < 0)
        r_fail(&error);
    return r_text(text);
}

SEXP r_cloud_info(void)
{
    struct trk_error error = {0};
    char *text;
    if (trk_cloud_info_json(NULL, &text, &error) < 0)
        r_fail(&error);
    return r_text(text);
}

SEXP r_version(void)
{
    return Rf_mkString(trk_version());
}
