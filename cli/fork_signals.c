#include "fork_signals.h"

#include "platform/os.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

/* What a terminal sends to a process group and acts on a process that does not handle it. */
static const int of_terminal[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU};
enum { OF_TERMINAL_COUNT = sizeof of_terminal / sizeof *of_terminal };

/* Those that we block and the job does not. */
static sigset_t held_back(const struct cli_signals *signals)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < OF_TERMINAL_COUNT; i++)
        if (sigismember(&signals->taken, of_terminal[i]) &&
            !sigismember(&signals->original_mask, of_terminal[i]))
            sigaddset(&set, of_terminal[i]);
    return set;
}

int cli_fork_ended_by(const struct cli_signals *signals)
{
    static const int ending[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM};
    sigset_t pending;
    if (sigpending(&pending) < 0)
        return 0;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigismember(&pending, ending[i]) && sigismember(&signals->taken, ending[i]))
            return ending[i];
    return 0;
}

/* The kernel delivers what is pending and not blocked before it forks, and what comes during the fork to both processes
 * after it. */
pid_t cli_fork(const struct cli_signals *signals)
{
    sigset_t open = held_back(signals);
    if (sigprocmask(SIG_UNBLOCK, &open, NULL) < 0)
        return -errno;
    pid_t pid = fork();
    int code = -errno;
    if (pid != 0)
        sigprocmask(SIG_BLOCK, &open, NULL);
    return pid < 0 ? code : pid;
}

/* ---- vfork --------------------------------------------------------------------------- */

/* Between begin and end. Parent and child share this memory, and one of them runs at a time. */
static struct {
    pid_t parent;
    volatile bool has_child;
    volatile bool is_owed[OF_TERMINAL_COUNT]; /* the job has not got it, or has not acted on it */
    volatile bool has_come[OF_TERMINAL_COUNT];
    siginfo_t info[OF_TERMINAL_COUNT]; /* of what has come to the parent */
} window;

static bool is_stop(int signal)
{
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* In the parent: before the fork, or after the child's exec for what came meanwhile. In the child: until its exec, which
 * sets the default action again. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    int i = 0;
    while (of_terminal[i] != signal)
        i++;
    if (getpid() == window.parent) {
        window.info[i] = *info;
        window.has_come[i] = true;
        /* One that a process sent to us alone is passed on by the supervisor. */
        if (!window.has_child && trk__os_signal_is_of_terminal(info))
            window.is_owed[i] = true;
    } else if (is_stop(signal)) {
        window.is_owed[i] = true;
    } else {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(signal, &standard, NULL);
        kill(getpid(), signal); /* acts when this function returns */
    }
}

static void set_action(const sigset_t *set, const struct sigaction *action)
{
    for (int i = 0; i < OF_TERMINAL_COUNT; i++)
        if (sigismember(set, of_terminal[i]))
            sigaction(of_terminal[i], action, NULL);
}

/* A signal that stops us before the fork acts here: as long as there is no job, nothing is to be done in its place. */
void cli_vfork_begin(const struct cli_signals *signals)
{
    sigset_t open = held_back(signals);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    window.parent = getpid();
    sigprocmask(SIG_UNBLOCK, &open, NULL);
    set_action(&open, &action);
}

void cli_vfork_in_child(void)
{
    window.has_child = true;
}

void cli_vfork_end(const struct cli_signals *signals, pid_t pid)
{
    sigset_t open = held_back(signals);
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigprocmask(SIG_BLOCK, &open, NULL);
    set_action(&open, &standard);
    for (int i = 0; i < OF_TERMINAL_COUNT; i++) {
        if (window.is_owed[i] && pid > 0)
            kill(pid, of_terminal[i]);
        if (window.has_come[i]) /* to the signalfd, with its sender */
            trk__os_signal_again(of_terminal[i], &window.info[i]);
    }
}
