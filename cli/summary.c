#include "summary.h"

#include "human.h"
#include "memory_words.h"
#include "phase_words.h"
#include "platform/os.h"
#include "sparkline.h"
#include "text.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Columns: labels, then a body, then the trends below each other at the right. */
enum {
    LABEL_COLUMNS = 13,
    BODY_COLUMNS = 48,
    TREND_COLUMNS = 16, /* where nothing is known of the width */
    TREND_COLUMNS_MIN = 4,
    BODY_SIZE = 160,
    SURVIVORS_MAX = 6,
    NOTES_MAX = 3,
    LARGEST_MAX = 10,
};

/* How far the possible peak must lie above the likely one to be worth a line: by both. */
#define PEAK_DOUBT_NOTABLE_RATIO 1.10
#define PEAK_DOUBT_EMPTY_RATIO 4.0
#define PEAK_DOUBT_NOTABLE_BYTES (16.0 * 1024 * 1024)

/* Before figures that lack what nobody could see. */
#define AT_LEAST "at least "

/* From here on a limit is near. */
#define MEMORY_NEAR_LIMIT_RATIO 0.9

/* In less time than this the loading of the program, whose clock starts before ours, would make it
 * look busier than it was. */
#define CORES_WALL_MIN_SECONDS 0.1

struct page {
    const trk_session *session;
    const struct cli_options *options;
    bool rows_complete;
    struct trk_summary summary;
    struct cli_style style;
    struct cli_text text;
};

/* ---- building blocks ----------------------------------------------------------------- */

static bool is_run(const struct page *page)
{
    return page->options->command && page->options->command[0];
}

/* A job, started by us or not; else the machine as a whole. */
static bool is_job(const struct page *page)
{
    return is_run(page) || page->options->pid > 0;
}

static void add_coloured(struct page *page, const char *colour, const char *words)
{
    if (page->style.colour)
        cli_text_add(&page->text, "%s%s" CLI_PLAIN, colour, words);
    else
        cli_text_add(&page->text, "%s", words);
}

static void add_label(struct page *page, const char *label)
{
    char padded[LABEL_COLUMNS + 1];
    snprintf(padded, sizeof padded, "  %-*s", LABEL_COLUMNS - 2, label);
    add_coloured(page, CLI_DIM, padded);
}

static void add_line(struct page *page, const char *label, const char *body)
{
    add_label(page, label);
    cli_text_add(&page->text, "%s\n", body);
}

static void add_wrapped(struct page *page, const char *label, const char *words)
{
    add_label(page, label);
    cli_text_add_wrapped(&page->text, LABEL_COLUMNS, words);
}

/* What is left of the terminal's width, half of it on a wide one; 0: too little. */
static size_t trend_columns(void)
{
    const size_t left = LABEL_COLUMNS + BODY_COLUMNS + 3;
    size_t columns = cli_terminal_columns(STDERR_FILENO);
    if (columns < left + TREND_COLUMNS_MIN)
        return 0;
    if (columns < left + TREND_COLUMNS)
        return columns - left;
    size_t wide = TREND_COLUMNS + (columns - left - TREND_COLUMNS) / 2;
    return wide < CLI_SPARKLINE_MAX ? wide : CLI_SPARKLINE_MAX;
}

static void add_line_with_trend(struct page *page, const char *label, const char *body,
                                const char *metric)
{
    double values[CLI_SPARKLINE_MAX];
    char line[CLI_SPARKLINE_SIZE] = "";
    size_t columns = trend_columns();
    int count = columns ? trk_session_trend(page->session, metric, values, columns) : 0;
    if (count > 0)
        cli_sparkline(values, (size_t)count, page->style.utf8, line);
    if (!*line) {
        add_line(page, label, body);
        return;
    }
    add_label(page, label);
    cli_text_add(&page->text, "%-*s  ", BODY_COLUMNS, body);
    add_coloured(page, CLI_CYAN, line);
    cli_text_add(&page->text, "\n");
}

static bool stats_of(const struct page *page, const char *metric,
                     struct trk_metric_stats *ret_stats)
{
    return trk_session_stats(page->session, metric, ret_stats) == 0 && ret_stats->count > 0;
}

/* ---- the lines ----------------------------------------------------------------------- */

static void add_headline(struct page *page)
{
    char name[256];
    char *job_name[] = {(char *)page->options->job_name, NULL};
    size_t columns = CLI_TEXT_COLUMNS - strlen("resource-tracker: ");
    if (page->options->job_name)
        cli_text_command(job_name, columns, name, sizeof name);
    else if (is_run(page))
        cli_text_command(page->options->command, columns, name, sizeof name);
    else if (is_job(page))
        snprintf(name, sizeof name, "process %d", (int)page->options->pid);
    else
        snprintf(name, sizeof name, "this machine");
    cli_text_add(&page->text, "resource-tracker: ");
    add_coloured(page, CLI_BOLD, name);
    cli_text_add(&page->text, "\n");
}

static void add_state(struct page *page)
{
    char wall[CLI_HUMAN_SIZE];
    cli_human_seconds(page->summary.wall_seconds, wall);
    add_label(page, is_job(page) ? "job" : "time");
    if (!is_job(page)) {
        cli_text_add(&page->text, "%s\n", wall);
        return;
    }
    char words[CLI_OUTCOME_SIZE];
    cli_outcome_words(&page->summary, words);
    bool failed = page->summary.exit_signal > 0 || page->summary.exit_code > 0;
    add_coloured(page, failed ? CLI_RED : CLI_GREEN, words);
    const char *joint = is_run(page) ? ", after" : ", watched for";
    cli_text_add(&page->text, "%s %s\n", joint, wall);
}

static void add_cpu_time(struct page *page)
{
    const struct trk_summary *summary = &page->summary;
    char total[CLI_HUMAN_SIZE], user[CLI_HUMAN_SIZE], system[CLI_HUMAN_SIZE], body[BODY_SIZE];
    if (!summary->cpu_seconds.valid) {
        add_line(page, "CPU", "not measured");
        return;
    }
    int len = snprintf(body, sizeof body, "%s%s", summary->cpu_is_lower_bound ? AT_LEAST : "",
                       cli_human_seconds(summary->cpu_seconds.value, total));
    if (summary->cpu_user_seconds.valid && summary->cpu_system_seconds.valid)
        snprintf(body + len, sizeof body - (size_t)len, ": %s user, %s system",
                 cli_human_seconds(summary->cpu_user_seconds.value, user),
                 cli_human_seconds(summary->cpu_system_seconds.value, system));
    add_line(page, "CPU", body);
}

/* What the job was allowed: its affinity is ours where we started it; a CPU quota may be
 * tighter. */
static double available_cores(const struct page *page)
{
    unsigned allowed = is_run(page) ? trk__os_allowed_cpus() : 0;
    double cores = allowed ? allowed : (double)sysconf(_SC_NPROCESSORS_ONLN);
    struct trk_metric_stats quota;
    if (stats_of(page, "system_cgroup_cpu_limit_cores", &quota) && quota.last < cores)
        cores = quota.last;
    return cores;
}

/* The exact total over the time beats the mean of the rows, which miss what lived between them. */
static double average_cores(const struct page *page, const struct trk_metric_stats *stats)
{
    const struct trk_summary *summary = &page->summary;
    if (is_job(page) && summary->cpu_seconds.valid && summary->wall_seconds > 0)
        return summary->cpu_seconds.value / summary->wall_seconds;
    return stats->mean;
}

static void add_cores(struct page *page)
{
    const char *metric = is_job(page) ? "process_cpu_usage_cores" : "system_cpu_usage_cores";
    char average[CLI_HUMAN_SIZE], peak[CLI_HUMAN_SIZE], body[BODY_SIZE];
    struct trk_metric_stats stats = {.mean = NAN, .max = NAN};
    bool has_rows = stats_of(page, metric, &stats);
    double cores = average_cores(page, &stats);
    if (isnan(cores) || page->summary.wall_seconds < CORES_WALL_MIN_SECONDS)
        return;
    double available = available_cores(page);
    int len = snprintf(body, sizeof body, "%s%s of %.3g core%s on average",
                       page->summary.cpu_is_lower_bound ? AT_LEAST : "",
                       cli_human_number(cores, average), available, available == 1 ? "" : "s");
    if (has_rows && stats.count > 1)
        snprintf(body + len, sizeof body - (size_t)len, ", %s peak",
                 cli_human_number(stats.max > cores ? stats.max : cores, peak));
    add_line_with_trend(page, is_job(page) ? "" : "CPU", body, metric);
}

static void add_memory_doubt(struct page *page)
{
    const struct trk_summary *summary = &page->summary;
    char high[CLI_HUMAN_SIZE], body[BODY_SIZE];
    double likely_bytes = summary->peak_memory_bytes.value;
    if (!(summary->peak_memory_high_bytes > likely_bytes * PEAK_DOUBT_NOTABLE_RATIO &&
          summary->peak_memory_high_bytes > likely_bytes + PEAK_DOUBT_NOTABLE_BYTES))
        return;
    /* Many short processes that nobody saw allow nearly anything: a bound that says nothing is no news. */
    if (summary->peak_memory_high_bytes > likely_bytes * PEAK_DOUBT_EMPTY_RATIO &&
        !page->options->verbose)
        return;
    snprintf(body, sizeof body, "between two samples it may have been up to %s",
             cli_human_bytes(summary->peak_memory_high_bytes, high));
    add_line(page, "", body);
}

/* A limit that was nearly reached is worth a line of its own. */
static void add_memory_limit(struct page *page)
{
    char limit[CLI_HUMAN_SIZE], share[CLI_HUMAN_SIZE], body[BODY_SIZE];
    struct trk_metric_stats stats;
    if (!stats_of(page, "system_cgroup_memory_limit_bytes", &stats) || !(stats.min > 0) ||
        page->summary.peak_memory_bytes.value < MEMORY_NEAR_LIMIT_RATIO * stats.min)
        return;
    snprintf(body, sizeof body, "%s of its limit, %s",
             cli_human_percent(page->summary.peak_memory_bytes.value / stats.min, share),
             cli_human_bytes(stats.min, limit));
    add_label(page, "");
    add_coloured(page, CLI_YELLOW, body);
    cli_text_add(&page->text, "\n");
}

static void add_job_memory(struct page *page)
{
    const struct trk_summary *summary = &page->summary;
    char peak[CLI_HUMAN_SIZE], average[CLI_HUMAN_SIZE], body[BODY_SIZE];
    struct trk_metric_stats stats;
    if (!summary->peak_memory_bytes.valid) {
        if (isnan(summary->peak_memory_high_bytes))
            snprintf(body, sizeof body, "not measured");
        else
            snprintf(body, sizeof body, "at most %s: too short to be measured",
                     cli_human_bytes(summary->peak_memory_high_bytes, peak));
        add_line(page, "memory", body);
        return;
    }
    int len = snprintf(body, sizeof body, "%s%s peak", cli_memory_is_vague(summary) ? "~" : "",
                       cli_human_bytes(summary->peak_memory_bytes.value, peak));
    if (stats_of(page, "process_memory_bytes", &stats) && stats.count > 1)
        snprintf(body + len, sizeof body - (size_t)len, ", %s on average",
                 cli_human_bytes(stats.mean, average));
    add_line_with_trend(page, "memory", body, "process_memory_bytes");
    add_memory_limit(page);
    add_memory_doubt(page);
}

static void add_machine_memory(struct page *page)
{
    char peak[CLI_HUMAN_SIZE], average[CLI_HUMAN_SIZE], total[CLI_HUMAN_SIZE], body[BODY_SIZE];
    struct trk_metric_stats used, size;
    if (!stats_of(page, "system_memory_used_bytes", &used)) {
        add_line(page, "memory", "not measured");
        return;
    }
    int len = snprintf(body, sizeof body, "%s peak, %s on average", cli_human_bytes(used.max, peak),
                       cli_human_bytes(used.mean, average));
    if (stats_of(page, "system_memory_total_bytes", &size))
        snprintf(body + len, sizeof body - (size_t)len, ", of %s",
                 cli_human_bytes(size.last, total));
    add_line_with_trend(page, "memory", body, "system_memory_used_bytes");
}

/* "3 KiB read, 1 MiB written"; a figure that is not known says so. */
static void format_pair(char body[BODY_SIZE], double first, const char *first_word, double second,
                        const char *second_word)
{
    char one[CLI_HUMAN_SIZE], two[CLI_HUMAN_SIZE];
    cli_human_bytes(first, one);
    cli_human_bytes(second, two);
    if (isnan(first) && isnan(second))
        snprintf(body, BODY_SIZE, "not measured");
    else if (isnan(first))
        snprintf(body, BODY_SIZE, "%s %s, %s: not measured", two, second_word, first_word);
    else if (isnan(second))
        snprintf(body, BODY_SIZE, "%s %s, %s: not measured", one, first_word, second_word);
    else
        snprintf(body, BODY_SIZE, "%s %s, %s %s", one, first_word, two, second_word);
}

static double total_or_nan(const struct trk_total *total)
{
    return total->valid ? total->value : NAN;
}

static double sum_or_nan(const struct page *page, const char *metric)
{
    struct trk_metric_stats stats;
    return stats_of(page, metric, &stats) ? stats.sum : NAN;
}

/* A job of ours whose bytes were not told to the end: who lived between two looks is missing. */
static bool may_lack_bytes(const struct page *page)
{
    const struct trk_total *total = &page->summary.write_bytes;
    return is_run(page) && total->valid && strcmp(total->source, "sampled") == 0;
}

static void add_disk(struct page *page)
{
    char body[BODY_SIZE], whole[BODY_SIZE + sizeof AT_LEAST];
    if (is_job(page))
        format_pair(body, total_or_nan(&page->summary.read_bytes), "read",
                    total_or_nan(&page->summary.write_bytes), "written");
    else
        format_pair(body, sum_or_nan(page, "system_disk_read_bytes"), "read",
                    sum_or_nan(page, "system_disk_write_bytes"), "written");
    snprintf(whole, sizeof whole, "%s%s", may_lack_bytes(page) ? AT_LEAST : "", body);
    add_line(page, "disk", whole);
}

/* The kernel counts traffic by interface, not by process. */
static void add_network(struct page *page)
{
    char body[BODY_SIZE];
    double received = sum_or_nan(page, "system_net_recv_bytes");
    double sent = sum_or_nan(page, "system_net_sent_bytes");
    if (isnan(received) && isnan(sent))
        return;
    format_pair(body, received, "received", sent, "sent");
    if (is_job(page))
        strncat(body, " (whole machine)", sizeof body - strlen(body) - 1);
    add_line(page, "network", body);
}

static void add_gpu(struct page *page)
{
    bool job = is_job(page);
    char busy[CLI_HUMAN_SIZE], memory[CLI_HUMAN_SIZE], body[BODY_SIZE];
    struct trk_metric_stats usage = {.max = NAN}, vram = {.max = NAN};
    bool has_usage =
        stats_of(page, job ? "process_gpu_usage_devices" : "system_gpu_usage_devices", &usage);
    bool has_memory =
        stats_of(page, job ? "process_gpu_vram_bytes" : "system_gpu_vram_bytes", &vram);
    if (!(usage.max > 0 || vram.max > 0))
        return;
    int len = has_usage ? snprintf(body, sizeof body, "%s devices busy at the peak",
                                   cli_human_number(usage.max, busy))
                        : snprintf(body, sizeof body, "busy: not measured");
    if (has_memory)
        snprintf(body + len, sizeof body - (size_t)len, ", %s of their memory",
                 cli_human_bytes(vram.max, memory));
    add_line(page, "GPU", body);
}

/* Looks and what we reaped ourselves miss who lived and was reaped between two looks. */
static bool are_all_counted(const struct trk_total *processes)
{
    return strcmp(processes->source, "events") == 0 || strcmp(processes->source, "ptrace") == 0;
}

static void add_processes(struct page *page)
{
    const struct trk_total *processes = &page->summary.processes;
    struct trk_metric_stats alive;
    char body[BODY_SIZE];
    if (!processes->valid)
        return;
    bool is_many = processes->value > 1;
    int len = snprintf(body, sizeof body, "%s%.0f%s",
                       is_many && !are_all_counted(processes) ? AT_LEAST : "", processes->value,
                       is_many ? " in all" : "");
    if (is_many && stats_of(page, "process_processes_count", &alive) && alive.max > 0)
        snprintf(body + len, sizeof body - (size_t)len, ", %.0f at once", alive.max);
    add_line(page, "processes", body);
}

static void add_phases(struct page *page)
{
    trk_phases *phases;
    struct trk_phase_info phase = {.size = sizeof phase};
    char words[CLI_PHASE_SIZE];
    if (trk_session_phases(page->session, &phases, NULL) < 0)
        return;
    size_t shown = 0;
    for (; shown < CLI_PHASES_SHOWN && trk_phases_at(phases, shown, &phase) == 0; shown++) {
        cli_phase_words(&phase, page->summary.start_time, words);
        add_line(page, shown ? "" : "phases", words);
    }
    if (trk_phases_at(phases, shown, &phase) == 0)
        add_line(page, "", "and more: resource-tracker show");
    trk_phases_free(phases);
}

/* "a[42] held 1 GiB"; returns the length, 0 where nobody is known. */
static int name_oom_victim(const struct trk_summary *summary, char words[BODY_SIZE])
{
    char held[CLI_HUMAN_SIZE], command[sizeof summary->oom_command];
    memcpy(command, summary->oom_command, sizeof command);
    cli_text_make_printable(command);
    if (!summary->oom_pid)
        return 0;
    if (isnan(summary->oom_process_bytes))
        return snprintf(words, BODY_SIZE, "%s[%d]", command, (int)summary->oom_pid);
    return snprintf(words, BODY_SIZE, "%s[%d] held %s", command, (int)summary->oom_pid,
                    cli_human_bytes(summary->oom_process_bytes, held));
}

static void add_oom_advice(struct page *page)
{
    const struct trk_summary *summary = &page->summary;
    char limit[CLI_HUMAN_SIZE], advice[CLI_HUMAN_SIZE], cgroup[sizeof summary->oom_cgroup];
    char words[BODY_SIZE];
    int len = name_oom_victim(summary, words);
    memcpy(cgroup, summary->oom_cgroup, sizeof cgroup);
    cli_text_make_printable(cgroup);
    if (!isnan(summary->oom_limit_bytes))
        len += snprintf(
            words + len, sizeof words - (size_t)len, "%s%s%s is %s; ask for at least %s next time",
            len ? ", " : "", summary->oom_of_machine ? "the machine's memory" : "the limit",
            *cgroup ? " of its cgroup" : "", cli_human_bytes(summary->oom_limit_bytes, limit),
            cli_human_bytes(summary->oom_advice_bytes, advice));
    if (len)
        add_wrapped(page, "", words);
    if (*cgroup) {
        snprintf(words, sizeof words, "cgroup %.*s", BODY_SIZE - 16, cgroup);
        add_wrapped(page, "", words);
    }
}

static void add_oom_kills(struct page *page)
{
    const struct trk_total *kills = &page->summary.oom_kills;
    char body[BODY_SIZE];
    if (!kills->valid || !(kills->value > 0))
        return;
    snprintf(body, sizeof body, "the kernel killed %.0f process%s for want of memory", kills->value,
             kills->value > 1 ? "es" : "");
    add_label(page, "OOM");
    add_coloured(page, CLI_RED, body);
    cli_text_add(&page->text, "\n");
    add_oom_advice(page);
}

static void add_survivors(struct page *page)
{
    uint32_t count = page->summary.left_running;
    uint32_t named = 0;
    char names[SURVIVORS_MAX * 32 + 64] = "";
    int len = 0;
    pid_t pid;
    char command[16];
    if (!page->summary.ended || count == 0)
        return;
    for (; named < count && named < SURVIVORS_MAX; named++) {
        if (trk_session_survivor(page->session, named, &pid, command) < 0)
            break;
        cli_text_make_printable(command);
        len += snprintf(names + len, sizeof names - (size_t)len, "%s%.15s[%d]", named ? ", " : "",
                        command, (int)pid);
    }
    if (named < count)
        snprintf(names + len, sizeof names - (size_t)len, "%s%u%s process%s", named ? " and " : "",
                 count - named, named ? " more" : "", count - named == 1 ? "" : "es");
    add_wrapped(page, "left alive", names);
}

static void add_missed_ticks(struct page *page)
{
    char body[BODY_SIZE];
    if (!page->summary.missed_ticks)
        return;
    snprintf(body, sizeof body, "%llu %s while the tracker was stopped or too late",
             (unsigned long long)page->summary.missed_ticks,
             page->summary.missed_ticks == 1 ? "tick" : "ticks");
    add_line(page, "missed", body);
}

static void add_rows(struct page *page)
{
    const char *path = page->options->session.output_path;
    if (!path)
        return;
    if (strcmp(path, "-") == 0)
        path = "standard output";
    add_label(page, "rows");
    if (page->rows_complete)
        cli_text_add(&page->text, "%llu in %s\n", (unsigned long long)page->summary.samples, path);
    else
        cli_text_add(&page->text, "incomplete: %s could not be written any more\n", path);
}

static void add_notes(struct page *page)
{
    size_t shown = 0;
    const char *note;
    for (; (note = trk_session_note(page->session, shown)); shown++) {
        if (shown == NOTES_MAX && !page->options->verbose) {
            add_line(page, "", "and more; --verbose tells all");
            return;
        }
        add_wrapped(page, shown ? "" : "note", note);
    }
}

/* ---- --verbose ----------------------------------------------------------------------- */

static void add_source(char words[512], const char *name, const struct trk_total *total)
{
    size_t len = strlen(words);
    if (total->valid)
        snprintf(words + len, 512 - len, "%s%s by %s", len ? ", " : "", name,
                 total->source ? total->source : "?");
}

static void add_sources(struct page *page)
{
    const struct trk_summary *summary = &page->summary;
    char words[512] = "", share[CLI_HUMAN_SIZE];
    add_source(words, "CPU", &summary->cpu_seconds);
    add_source(words, "memory", &summary->peak_memory_bytes);
    add_source(words, "read", &summary->read_bytes);
    add_source(words, "written", &summary->write_bytes);
    add_source(words, "processes", &summary->processes);
    if (*words)
        add_wrapped(page, "sources", words);
    double coverage = summary->cpu_sampled_seconds / summary->cpu_seconds.value;
    if (!summary->cpu_seconds.valid || !isfinite(coverage))
        return;
    snprintf(words, sizeof words, "%s of the CPU time was seen in rows",
             cli_human_percent(coverage, share));
    add_line(page, "", words);
}

static void add_memory_reads(struct page *page)
{
    const struct trk_summary *summary = &page->summary;
    char longest[CLI_HUMAN_SIZE], share[CLI_HUMAN_SIZE], low[CLI_HUMAN_SIZE], high[CLI_HUMAN_SIZE];
    char body[2 * BODY_SIZE];
    int len = snprintf(body, sizeof body, "%llu of memory",
                       (unsigned long long)summary->memory_true_reads);
    if (summary->memory_true_reads)
        len += snprintf(body + len, sizeof body - (size_t)len, ", the longest took %s",
                        cli_human_seconds(summary->memory_longest_read_seconds, longest));
    if (!isnan(summary->memory_estimated_ratio))
        len += snprintf(body + len, sizeof body - (size_t)len, ", %s estimated",
                        cli_human_percent(summary->memory_estimated_ratio, share));
    if (!isnan(summary->peak_memory_sampled_low_bytes))
        len += snprintf(body + len, sizeof body - (size_t)len, "; the largest sample is %s to %s",
                        cli_human_bytes(summary->peak_memory_sampled_low_bytes, low),
                        cli_human_bytes(summary->peak_memory_sampled_high_bytes, high));
    if (!isnan(summary->peak_memory_low_bytes) && !isnan(summary->peak_memory_high_bytes))
        snprintf(body + len, sizeof body - (size_t)len, ", the peak %s to %s",
                 cli_human_bytes(summary->peak_memory_low_bytes, low),
                 cli_human_bytes(summary->peak_memory_high_bytes, high));
    add_wrapped(page, "true reads", body);
}

static void add_largest(struct page *page)
{
    struct trk_process_info info = {.size = sizeof info};
    char cpu[CLI_HUMAN_SIZE], rss[CLI_HUMAN_SIZE], body[BODY_SIZE];
    for (size_t i = 0; i < LARGEST_MAX && trk_session_process(page->session, i, &info) == 0; i++) {
        cli_text_make_printable(info.command);
        int len = info.pid ? snprintf(body, sizeof body, "%s[%d]", info.command, (int)info.pid)
                           : snprintf(body, sizeof body, "%s x %u", info.command, info.count);
        if (!isnan(info.cpu_seconds))
            len += snprintf(body + len, sizeof body - (size_t)len, ", %s of CPU",
                            cli_human_seconds(info.cpu_seconds, cpu));
        if (!isnan(info.peak_rss_bytes))
            snprintf(body + len, sizeof body - (size_t)len, ", %s at most",
                     cli_human_bytes(info.peak_rss_bytes, rss));
        add_line(page, i ? "" : "largest", body);
    }
}

static void add_memory_limits(struct page *page)
{
    const char *words;
    for (size_t i = 0; (words = cli_memory_limit(&page->summary, i)); i++)
        add_wrapped(page, "", words);
}

static void add_overhead(struct page *page)
{
    trk_session_overhead(page->session, &page->summary);
    const struct trk_summary *summary = &page->summary;
    char cpu[CLI_HUMAN_SIZE], rss[CLI_HUMAN_SIZE], interval[CLI_HUMAN_SIZE], body[BODY_SIZE];
    snprintf(body, sizeof body, "%s of CPU and %s of memory, a sample every %s",
             cli_human_seconds(summary->overhead_cpu_seconds, cpu),
             cli_human_bytes(summary->overhead_peak_rss_bytes, rss),
             cli_human_seconds(summary->interval_seconds, interval));
    add_line(page, "tracker", body);
}

/* ---- the page ------------------------------------------------------------------------ */

static void fill_page(struct page *page)
{
    add_headline(page);
    add_state(page);
    if (is_job(page)) {
        add_cpu_time(page);
        add_cores(page);
        add_job_memory(page);
    } else {
        add_cores(page);
        add_machine_memory(page);
    }
    add_disk(page);
    add_network(page);
    add_gpu(page);
    if (is_job(page))
        add_processes(page);
    add_phases(page);
    add_oom_kills(page);
    add_survivors(page);
    add_missed_ticks(page);
    add_rows(page);
    if (page->options->verbose) {
        add_sources(page);
        if (is_job(page)) {
            add_memory_reads(page);
            add_memory_limits(page);
            add_largest(page);
        }
        add_overhead(page);
    }
    add_notes(page);
}

/* While SIGTTOU is blocked the kernel lets a background process write to a terminal that has `stty
 * tostop`; the user has asked for the opposite. */
static void let_terminal_stop_us(void)
{
    sigset_t output_stop;
    sigemptyset(&output_stop);
    sigaddset(&output_stop, SIGTTOU);
    sigprocmask(SIG_UNBLOCK, &output_stop, NULL);
}

void cli_summary_print(const trk_session *session, const struct cli_options *options,
                       bool rows_complete)
{
    struct page page;
    page.rows_complete = rows_complete;
    page.session = session;
    page.options = options;
    page.style = cli_style_of(STDERR_FILENO);
    page.text.len = 0;
    page.summary = (struct trk_summary){.size = sizeof page.summary};
    trk_session_summary(session, &page.summary);
    fill_page(&page);
    let_terminal_stop_us();
    cli_text_write(page.text.data, page.text.len, STDERR_FILENO);
}
