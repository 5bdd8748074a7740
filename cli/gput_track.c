/* gpu-tracker -e COMMAND: runs it, and tells at its end what it used. */
#include "fork_signals.h"
#include "gput.h"
#include "gput_help.h"
#include "gput_words.h"
#include "message.h"
#include "platform/os.h"
#include "signal_events.h"
#include "spawn.h"
#include "supervise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct track {
    const struct gput_options *options;
    int format;
    struct trk_gpu_tracker_options tracker_options;
    bool disable_logs;
    char *config_texts;
    char **words;
    struct gput_output output;
    trk_gpu_tracker *tracker;
    bool tracking_file_is_new;
};

/* ---- options ---- */

/* All of the text must be the number. */
static int number_of(const char *name, const char *text, double least, double most,
                     double *ret_value, struct trk_error *error)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        return cli_error_set(error, -EINVAL, "%s %s is no number from %g to %g", name, text, least,
                             most);
    *ret_value = value;
    return 0;
}

static int take_numbers(struct track *track, struct trk_error *error)
{
    const struct gput_options *options = track->options;
    double cores = 0;
    int code = 0;
    if (options->sleep_time)
        code = number_of("--st", options->sleep_time, 0.001, 3600,
                         &track->tracker_options.interval_seconds, error);
    if (code == 0 && options->expected_cores)
        code = number_of("--nec", options->expected_cores, 1, 1e6, &cores, error);
    if (code == 0 && cores != (double)(uint32_t)cores)
        code = cli_error_set(error, -EINVAL, "--nec %s is no whole number of cores",
                             options->expected_cores);
    if (cores > 0)
        track->tracker_options.n_expected_cores = (uint32_t)cores;
    return code;
}

static void take_text(const char **field, const char *given)
{
    if (given)
        *field = given;
}

/* The file first, then the words typed. */
static int take_options(struct track *track, struct trk_error *error)
{
    const struct gput_options *options = track->options;
    struct trk_gpu_tracker_options *taken = &track->tracker_options;
    trk_gpu_tracker_options_init(taken);
    int code = options->tracker_config
                   ? trk_gpu_tracker_options_load(taken, options->tracker_config,
                                                  &track->disable_logs, &track->config_texts, error)
                   : 0;
    if (code < 0)
        return code;
    taken->form.compat = options->release;
    take_text(&taken->form.ram_unit, options->ram_unit);
    take_text(&taken->form.gpu_ram_unit, options->gpu_ram_unit);
    take_text(&taken->form.time_unit, options->time_unit);
    take_text(&taken->gpu_uuids, options->gpu_uuids);
    take_text(&taken->gpu_brand, options->gpu_brand);
    take_text(&taken->tracking_file, options->tracking_file);
    taken->overwrite |= options->overwrite;
    track->disable_logs |= options->disable_logs;
    return take_numbers(track, error);
}

static int take_command(struct track *track, struct trk_error *error)
{
    if (!track->options->execute) {
        gput_usage_print(stderr, track->options->release);
        return cli_error_set(error, -EINVAL,
                             "no command is given; put it in quotes behind -e: gpu-tracker -e "
                             "'sleep 2'");
    }
    int code = gput_words_split(track->options->execute, &track->words, error);
    if (code == 0 && !track->words[0])
        code = cli_error_set(error, -EINVAL, "Empty command provided.");
    return code;
}

/* ---- the end ---- */

static void tell_notes(const struct track *track, const trk_session *session)
{
    const char *note;
    for (size_t i = 0; !track->disable_logs && (note = trk_session_note(session, i)); i++)
        fprintf(stderr, "%s: %s\n", cli_program, note);
}

static int tell_figures(struct track *track, const struct cli_ending *ending)
{
    struct trk_error error = {0};
    struct trk_gpu_usage usage = {.size = sizeof usage};
    char *text = NULL;
    if (trk_gpu_tracker_usage(track->tracker, &usage, &error) < 0)
        cli_fail("%s", error.message); /* the tracking file; the figures are good */
    printf("Resource tracking complete. Process completed with status code: %d\n",
           ending->exit_signal > 0 ? -ending->exit_signal : ending->exit_code);
    bool told = fflush(stdout) == 0;
    int code = (track->format == GPUT_JSON ? trk_gpu_usage_json : trk_gpu_usage_text)(
        &usage, &track->tracker_options.form, &text, &error);
    int status = code < 0 ? cli_fail("%s", error.message) : gput_output_write(&track->output, text);
    trk_free(text);
    if (!told && !status)
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return status || error.code ? CLI_EXIT_OWN : 0;
}

/* A command that can't be run leaves nothing behind. */
static void give_up(struct track *track)
{
    gput_output_discard(&track->output);
    if (track->tracking_file_is_new)
        unlink(track->tracker_options.tracking_file);
}

static int run(struct track *track, trk_session *session, const struct cli_signals *signals)
{
    const struct cli_options plain = {0};
    struct cli_held job;
    struct cli_ending ending;
    trk__os_adopt_orphans();
    int signal = cli_fork_ended_by(signals);
    if (signal) {
        give_up(track);
        cli_signals_die_of(signal);
        return 128 + signal;
    }
    int code = cli_spawn(track->words, signals, &job);
    if (code < 0 || job.failure < 0) {
        give_up(track);
        return code < 0 ? cli_spawn_explain_process(code)
                        : cli_spawn_explain(track->words[0], job.failure);
    }
    cli_supervise(session, &job, &plain, signals, &ending);
    tell_notes(track, session);
    int failed = tell_figures(track, &ending);
    trk_gpu_tracker_free(track->tracker); /* this process may end by the command's signal now */
    track->tracker = NULL;
    int status = cli_supervise_exit(&ending);
    return status ? status : failed;
}

static bool will_be_new(const char *path)
{
    return path && access(path, F_OK) < 0 && errno == ENOENT;
}

static int track_command(struct track *track)
{
    struct trk_error error = {0};
    struct cli_signals signals;
    struct trk_options base;
    trk_session *session;
    int code = cli_signals_take(cli_supervise_signals, cli_supervise_signal_count, &signals);
    if (code < 0)
        return cli_fail("signals can't be watched: %s", strerror(-code));
    if (gput_output_open(&track->output, track->options->output))
        return CLI_EXIT_OWN;
    trk_options_init(&base);
    base.reap_children = true;
    base.signal_fd = signals.fd;
    base.root_path = track->options->root;
    track->tracking_file_is_new = will_be_new(track->tracker_options.tracking_file);
    code = trk_gpu_tracker_new(&track->tracker_options, &track->tracker, &error);
    if (code == 0)
        code = trk_gpu_tracker_session(track->tracker, &base, &session, &error);
    if (code != 0) {
        gput_output_discard(&track->output);
        return cli_fail("%s", error.message);
    }
    return run(track, session, &signals);
}

int gput_track(const struct gput_options *options)
{
    struct track track = {.options = options};
    struct trk_error error = {0};
    cli_spawn_guard_standard_fds();
    int code = take_command(&track, &error);
    if (code == 0)
        code = take_options(&track, &error);
    int status = code < 0 ? cli_fail("%s", error.message) : 0;
    track.format = status ? -1 : gput_format_of(options);
    status = track.format < 0 ? CLI_EXIT_OWN : track_command(&track);
    trk_gpu_tracker_free(track.tracker);
    free(track.words);
    trk_free(track.config_texts);
    return status;
}
