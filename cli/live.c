/* --live: one line on the terminal, drawn over itself. */
#include "cli.h"
#include "human.h"
#include "sparkline.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_NS = 100000000, TREND_COLUMNS = 8, SEGMENT_SIZE = 256 };

/* The terminal is one for the process, so is what stands on it. */
static struct {
    bool drawn;
    int64_t last_ns;
} screen;

struct live_line {
    const trk_session *session;
    const char *scope; /* prefix of metric names: the job, or the machine where there is none */
    bool utf8;
    size_t columns;
    size_t columns_max;
    struct cli_text text;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A job in the background does not draw over what the user types; tcgetpgrp fails where stderr is
 * no terminal. */
static bool may_draw(void)
{
    const char *terminal = getenv("TERM");
    return terminal && strcmp(terminal, "dumb") != 0 && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* Adds what fits as a whole; the figures come in order of interest. */
static void add_segment(struct live_line *line, const char *segment)
{
    size_t columns = cli_text_columns(segment);
    if (line->columns + columns > line->columns_max)
        return;
    line->columns += columns;
    cli_text_add(&line->text, "%s", segment);
}

static double last_of(const struct live_line *line, const char *scope, const char *metric)
{
    char name[64];
    struct trk_metric_stats stats;
    snprintf(name, sizeof name, "%s_%s", scope, metric);
    return trk_session_stats(line->session, name, &stats) == 0 && stats.count ? stats.last : NAN;
}

static void add_cpu_trend(struct live_line *line)
{
    char name[64], trend[CLI_SPARKLINE_SIZE], segment[SEGMENT_SIZE];
    double values[TREND_COLUMNS];
    snprintf(name, sizeof name, "%s_cpu_usage_cores", line->scope);
    int count = trk_session_trend(line->session, name, values, TREND_COLUMNS);
    if (count <= 0 || cli_sparkline(values, (size_t)count, line->utf8, trend) == 0)
        return;
    snprintf(segment, sizeof segment, " %s", trend);
    add_segment(line, segment);
}

static void add_cpu(struct live_line *line)
{
    char number[CLI_HUMAN_SIZE], segment[SEGMENT_SIZE];
    double cores = last_of(line, line->scope, "cpu_usage_cores");
    if (isnan(cores))
        return;
    snprintf(segment, sizeof segment, "  cpu %s cores", cli_human_number(cores, number));
    add_segment(line, segment);
    add_cpu_trend(line);
}

static void add_memory(struct live_line *line, const struct trk_summary *summary)
{
    char now[CLI_HUMAN_SIZE], peak[CLI_HUMAN_SIZE], segment[SEGMENT_SIZE];
    bool job = strcmp(line->scope, "process") == 0;
    const char *metric = job ? "memory_bytes" : "memory_used_bytes";
    double bytes = last_of(line, line->scope, metric);
    if (isnan(bytes))
        return;
    snprintf(segment, sizeof segment, "  mem %s", cli_human_bytes(bytes, now));
    add_segment(line, segment);
    if (!job || !summary->peak_memory_bytes.valid)
        return;
    snprintf(segment, sizeof segment, " (peak %s)",
             cli_human_bytes(summary->peak_memory_bytes.value, peak));
    add_segment(line, segment);
}

/* Two deltas of the last interval, by second. */
static void add_rates(struct live_line *line, const char *words, double first, double second,
                      double interval_seconds)
{
    char one[CLI_HUMAN_SIZE], two[CLI_HUMAN_SIZE], segment[SEGMENT_SIZE];
    if (isnan(first) || isnan(second) || !(interval_seconds > 0))
        return;
    snprintf(segment, sizeof segment, "  %s %s/s %s/s", words,
             cli_human_bytes(first / interval_seconds, one),
             cli_human_bytes(second / interval_seconds, two));
    add_segment(line, segment);
}

static void add_gpu(struct live_line *line)
{
    char busy[CLI_HUMAN_SIZE], memory[CLI_HUMAN_SIZE], segment[SEGMENT_SIZE];
    double devices = last_of(line, line->scope, "gpu_usage_devices");
    double bytes = last_of(line, line->scope, "gpu_vram_bytes");
    /* A machine without one has zeros. */
    if (!(last_of(line, "system", "gpu_usage_devices") > 0) &&
        !(last_of(line, "system", "gpu_vram_bytes") > 0) && !(bytes > 0))
        return;
    if (!isnan(devices)) {
        snprintf(segment, sizeof segment, "  gpu %s", cli_human_number(devices, busy));
        add_segment(line, segment);
    }
    if (!isnan(bytes)) {
        snprintf(segment, sizeof segment, " vram %s", cli_human_bytes(bytes, memory));
        add_segment(line, segment);
    }
}

static void fill_line(struct live_line *line)
{
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(line->session, &summary);
    char elapsed[CLI_HUMAN_SIZE];
    bool job = !isnan(last_of(line, "process", "pid"));
    line->scope = job ? "process" : "system";
    add_segment(line, cli_human_seconds(summary.wall_seconds, elapsed));
    add_cpu(line);
    add_memory(line, &summary);
    add_gpu(line);
    add_rates(line, "disk r/w", last_of(line, line->scope, job ? "read_bytes" : "disk_read_bytes"),
              last_of(line, line->scope, job ? "write_bytes" : "disk_write_bytes"),
              summary.interval_seconds);
    add_rates(line, "net in/out", last_of(line, "system", "net_recv_bytes"),
              last_of(line, "system", "net_sent_bytes"), summary.interval_seconds);
}

void cli_live_update(const trk_session *session)
{
    int64_t now = now_ns();
    if (now - screen.last_ns < REDRAW_NS || !may_draw())
        return;
    struct live_line line = {.session = session,
                             .utf8 = cli_style_of(STDERR_FILENO).utf8,
                             .columns_max = cli_terminal_columns(STDERR_FILENO) - 1};
    /* Cleared first: what the job has written since then may stand on the line. */
    cli_text_add(&line.text, "\r\033[K");
    fill_line(&line);
    cli_text_write(line.text.data, line.text.len, STDERR_FILENO);
    screen.drawn = true;
    screen.last_ns = now;
}

void cli_live_clear(void)
{
    static const char erase[] = "\r\033[K";
    if (screen.drawn && may_draw())
        cli_text_write(erase, sizeof erase - 1, STDERR_FILENO);
    screen.drawn = false;
}
