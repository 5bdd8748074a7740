#include "supervise.h"
#include "platform/os.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const int cli_supervise_signals[] = {
    SIGCHLD, SIGINT,  SIGQUIT, SIGTSTP, SIGTTIN,  SIGTTOU, SIGHUP,
    SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGALRM,
};
const size_t cli_supervise_signal_count =
    sizeof cli_supervise_signals / sizeof cli_supervise_signals[0];

#define NS_PER_SECOND INT64_C(1000000000)

/* A stop signal and a stop of the job by another signal, SIGSTOP, belong together when they are
 * this close: between them the job may put its terminal in order. A stop without a signal of ours
 * is for the job alone. */
#define STOP_BELONGS_NS (3 * NS_PER_SECOND)

/* A century: beyond it a limit is none, and the sum below can't overflow. */
#define TIME_LIMIT_MAX_SECONDS 3.2e9

/* A session that fails so often in a row can't wait any more; the job is then followed without
 * it. */
enum { FAILURES_MAX = 8 };

enum limit_step { LIMIT_NONE, LIMIT_TERMINATE, LIMIT_KILL };

struct supervisor {
    trk_session *session;
    pid_t pid;
    const struct cli_options *options;
    bool failed;    /* the output, which is then given up */
    int end_signal; /* as in struct cli_ending */

    int stop_signal; /* the last one that we got; 0: none since the last stop */
    int64_t stop_signal_ns;
    bool is_told_stopped; /* the session's last word on the job's state */

    enum limit_step next_step; /* what the timer's next signal means */
    int64_t next_step_ns;
    struct trk_os_alarm timer;
    bool timed_out;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* ---- passing signals on -------------------------------------------------------------- */

/* False when the session has reaped the job's root process already (--wait): its number may be
 * another's. */
static bool is_our_child(pid_t pid)
{
    return waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void signal_job(struct supervisor *supervisor, int signal)
{
    if (is_our_child(supervisor->pid))
        kill(supervisor->pid, signal);
    else
        trk_session_signal(supervisor->session, signal);
}

static void signal_whole_job(struct supervisor *supervisor, int signal)
{
    int reached = trk_session_signal(supervisor->session, signal);
    if (reached <= 0) /* the session never started */
        signal_job(supervisor, signal);
}

/* The terminal signals a whole process group. That includes the job, unless it has moved to
 * another group, as timeout(1) does: then Ctrl-C would reach nobody but us. That the terminal is
 * gone is told to the leader of the session alone, which we are under `ssh -t` or in a window. */
static bool terminal_reached_job(const struct supervisor *supervisor, int signal)
{
    if (signal == SIGHUP && getsid(0) == getpid())
        return false;
    return getpgid(supervisor->pid) == getpgrp();
}

static void pass_on(struct supervisor *supervisor, int signal, bool from_terminal)
{
    if (!from_terminal || !terminal_reached_job(supervisor, signal))
        signal_job(supervisor, signal);
}

/* ---- job control --------------------------------------------------------------------- */

/* The kernel is asked each time: another process can have stopped the job, or continued it, since the last event. A traced
 * job is also held for short times that are no stop, in the same state: then the session reports which it is. */
static bool is_stopped(const struct supervisor *supervisor)
{
    enum trk_os_stop stop = trk__os_process_stop(supervisor->pid);
    return stop == TRK_OS_STOPPED || (stop == TRK_OS_HELD_BY_TRACER && supervisor->is_told_stopped);
}

/* We stop when the job has, never before it: it may catch the signal, take its time, or ignore it.
 * So this is asked at the signal and at the stop, which come in either order. Stopping by the same
 * signal shows our parent what it would see without us. */
static void stop_with_job(struct supervisor *supervisor)
{
    int signal = supervisor->stop_signal;
    if (!signal || now_ns() - supervisor->stop_signal_ns > STOP_BELONGS_NS)
        return;
    if (!is_stopped(supervisor))
        return;
    supervisor->stop_signal = 0;
    cli_live_clear();
    cli_signals_stop_by(signal);
}

static void on_stop_signal(struct supervisor *supervisor, int signal, bool from_terminal)
{
    supervisor->stop_signal = signal;
    supervisor->stop_signal_ns = now_ns();
    pass_on(supervisor, signal, from_terminal);
    stop_with_job(supervisor);
}

static void on_job_control(struct supervisor *supervisor, bool is_stop, int signal)
{
    supervisor->is_told_stopped = is_stop;
    /* By the signal that we got: they belong together, however long the job took. */
    if (is_stop && signal == supervisor->stop_signal)
        supervisor->stop_signal_ns = now_ns();
    if (is_stop)
        stop_with_job(supervisor);
}

static void on_continue(struct supervisor *supervisor)
{
    supervisor->stop_signal = 0;
    pass_on(supervisor, SIGCONT, false);
}

/* ---- the time limit ------------------------------------------------------------------ */

static void limit_arm(struct supervisor *supervisor, enum limit_step step, double seconds)
{
    supervisor->next_step = LIMIT_NONE;
    if (!(seconds > 0 && seconds < TIME_LIMIT_MAX_SECONDS))
        return;
    supervisor->next_step = step;
    supervisor->next_step_ns = now_ns() + (int64_t)(seconds * (double)NS_PER_SECOND);
    trk__os_alarm_set(&supervisor->timer, supervisor->next_step_ns);
}

static void limit_start(struct supervisor *supervisor)
{
    if (!(supervisor->options->timeout_seconds > 0))
        return;
    if (trk__os_alarm_init(&supervisor->timer) < 0)
        cli_fail("the time limit can't be kept: no timer could be made");
    else
        limit_arm(supervisor, LIMIT_TERMINATE, supervisor->options->timeout_seconds);
}

static void limit_reached(struct supervisor *supervisor)
{
    if (supervisor->next_step == LIMIT_KILL) {
        supervisor->next_step = LIMIT_NONE;
        signal_whole_job(supervisor, SIGKILL);
        return;
    }
    supervisor->timed_out = true;
    trk_session_tell_time_limit(supervisor->session, supervisor->options->timeout_seconds);
    signal_whole_job(supervisor, SIGTERM);
    signal_whole_job(supervisor, SIGCONT); /* a stopped process does not see SIGTERM */
    limit_arm(supervisor, LIMIT_KILL, supervisor->options->kill_after_seconds);
}

static void on_alarm(struct supervisor *supervisor)
{
    if (supervisor->next_step != LIMIT_NONE && now_ns() >= supervisor->next_step_ns)
        limit_reached(supervisor);
    else
        pass_on(supervisor, SIGALRM, false);
}

/* ---- events -------------------------------------------------------------------------- */

static void on_signal(struct supervisor *supervisor, int signal, bool from_terminal)
{
    switch (signal) {
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        on_stop_signal(supervisor, signal, from_terminal);
        break;
    case SIGCONT:
        on_continue(supervisor);
        break;
    case SIGALRM:
        on_alarm(supervisor);
        break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
        supervisor->end_signal = signal;
        pass_on(supervisor, signal, from_terminal);
        break;
    default:
        pass_on(supervisor, signal, from_terminal);
    }
}

static void on_event(struct supervisor *supervisor, const struct trk_event *event)
{
    if (event->kind == TRK_EVENT_SIGNAL)
        on_signal(supervisor, event->signal, event->from_terminal);
    else if (event->kind == TRK_EVENT_STOPPED || event->kind == TRK_EVENT_CONTINUED)
        on_job_control(supervisor, event->kind == TRK_EVENT_STOPPED, event->signal);
    else if (event->kind == TRK_EVENT_ROW && supervisor->options->live)
        cli_live_update(supervisor->session);
}

/* Told once and at the time: a job of days should not find out at its end. */
static void on_failure(struct supervisor *supervisor, const struct trk_error *error)
{
    if (!supervisor->failed) {
        cli_live_clear();
        cli_fail("%s", error->message);
    }
    supervisor->failed = true;
}

/* True at the job's end, false when the session can't go on. */
static bool follow_measured(struct supervisor *supervisor)
{
    for (int failures = 0; failures < FAILURES_MAX;) {
        struct trk_event event;
        struct trk_error error = {0};
        if (trk_session_next(supervisor->session, &event, &error) < 0) {
            on_failure(supervisor, &error);
            failures++;
            continue;
        }
        failures = 0;
        if (event.kind == TRK_EVENT_END)
            return true;
        on_event(supervisor, &event);
    }
    return false;
}

static void ending_from_session(const trk_session *session, struct cli_ending *ending)
{
    struct trk_summary summary = {.size = sizeof summary};
    trk_session_summary(session, &summary);
    ending->exit_code = summary.exit_code;
    ending->exit_signal = summary.exit_signal;
}

/* Without a session: the same supervision by plain means, so that a fault of measuring is not the
 * job's. */
static void follow_unmeasured(struct supervisor *supervisor, const sigset_t *signals,
                              struct cli_ending *ending)
{
    for (;;) {
        int status;
        trk_session_let_go(supervisor->session);
        pid_t pid = waitpid(supervisor->pid, &status, WNOHANG | WUNTRACED);
        if (pid < 0) { /* the session has reaped it before it failed */
            ending_from_session(supervisor->session, ending);
            return;
        }
        if (pid > 0 && WIFEXITED(status)) {
            ending->exit_code = WEXITSTATUS(status);
            return;
        }
        if (pid > 0 && WIFSIGNALED(status)) {
            ending->exit_signal = WTERMSIG(status);
            return;
        }
        if (pid > 0 && WIFSTOPPED(status))
            on_job_control(supervisor, true, WSTOPSIG(status));
        bool from_terminal;
        int signal = trk__os_signal_wait(signals, &from_terminal);
        if (signal > 0 && signal != SIGCHLD)
            on_signal(supervisor, signal, from_terminal);
    }
}

void cli_supervise(trk_session *session, struct cli_held *job, const struct cli_options *options,
                   const struct cli_signals *signals, struct cli_ending *ret_ending)
{
    struct supervisor supervisor = {.session = session, .pid = job->pid, .options = options};
    struct cli_ending ending = {.exit_code = -1};
    struct trk_error error = {0};
    bool started = trk_session_start(session, job->pid, &error) == 0;
    cli_spawn_release(job);
    if (!started)
        cli_fail("the job runs but is not measured: %s", error.message);
    limit_start(&supervisor);
    ending.measured = started && follow_measured(&supervisor);
    if (ending.measured)
        ending_from_session(session, &ending);
    else
        follow_unmeasured(&supervisor, &signals->taken, &ending);
    ending.timed_out = supervisor.timed_out;
    ending.end_signal = supervisor.end_signal;
    ending.rows_complete = !supervisor.failed;
    *ret_ending = ending;
}

int cli_supervise_exit(const struct cli_ending *ending)
{
    if (ending->timed_out)
        return CLI_EXIT_TIMEOUT;
    if (ending->exit_signal > 0) {
        cli_signals_die_of(ending->exit_signal);
        return 128 + ending->exit_signal;
    }
    if (ending->exit_code < 0)
        return cli_fail("the job has ended, but not how is known: another process reaped it");
    return ending->exit_code;
}
