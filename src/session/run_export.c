/* A session in the forms of src/export. */
#include "export/export.h"
#include "session/session.h"

#include <unistd.h>

static struct trk_metric_stats stats_of(const struct trk_session *session, enum trk_metric metric)
{
    struct trk_metric_stats stats;
    trk__run_stats_get(&session->stats, metric, &stats);
    return stats;
}

static void take_statistics(const struct trk_session *session, struct trk_export_facts *facts)
{
    struct trk_metric_stats rss = stats_of(session, TRK_M_PROC_RSS);
    struct trk_metric_stats virtual = stats_of(session, TRK_M_PROC_VIRTUAL);
    facts->rss_max_bytes = rss.max;
    facts->rss_mean_bytes = rss.mean;
    facts->virtual_max_bytes = virtual.max;
    facts->virtual_mean_bytes = virtual.mean;
    facts->memory_total_bytes = stats_of(session, TRK_M_SYS_MEM_TOTAL).max;
    facts->read_chars_bytes = stats_of(session, TRK_M_PROC_READ_CHARS).sum;
    facts->write_chars_bytes = stats_of(session, TRK_M_PROC_WRITE_CHARS).sum;
    facts->read_calls = stats_of(session, TRK_M_PROC_READ_CALLS).sum;
    facts->write_calls = stats_of(session, TRK_M_PROC_WRITE_CALLS).sum;
    facts->minor_faults = stats_of(session, TRK_M_PROC_MINOR_FAULTS).sum;
    facts->major_faults = stats_of(session, TRK_M_PROC_MAJOR_FAULTS).sum;
    facts->voluntary_switches = stats_of(session, TRK_M_PROC_VOLUNTARY_SWITCHES).sum;
    facts->involuntary_switches = stats_of(session, TRK_M_PROC_INVOLUNTARY_SWITCHES).sum;
}

int trk_session_export(const trk_session *session, const char *format, char *const command[],
                       const char *job_name, int fd, struct trk_error *error)
{
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(session, &summary);
    struct trk_export_facts facts = {.summary = &summary,
                                     .command = command,
                                     .job_name = job_name,
                                     .page_bytes = (double)sysconf(_SC_PAGESIZE)};
    take_statistics(session, &facts);
    return trk__export_to(format, &facts, fd, error);
}

const char *trk_export_format(size_t index)
{
    return trk__export_name(index);
}
