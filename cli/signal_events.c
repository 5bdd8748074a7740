#include "signal_events.h"
#include "platform/os.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool is_ignored(int signal)
{
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* With SIGCHLD ignored the kernel reaps children itself and how they ended is lost. */
static void keep_child_status(struct sigaction *ret_original)
{
    sigaction(SIGCHLD, NULL, ret_original);
    if (ret_original->sa_handler != SIG_IGN)
        return;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &standard, NULL);
}

int cli_signals_take(const int *wanted, size_t count, struct cli_signals *ret_signals)
{
    struct cli_signals signals = {.fd = -1};
    sigemptyset(&signals.taken);
    /* The kernel queues a blocked signal even where it is ignored, so an ignored one must not be
     * blocked. */
    for (size_t i = 0; i < count; i++)
        if (wanted[i] == SIGCHLD || !is_ignored(wanted[i]))
            sigaddset(&signals.taken, wanted[i]);
    keep_child_status(&signals.original_chld);

    sigset_t blocked = signals.taken;
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    int code = trk__os_signal_mask(SIG_BLOCK, &blocked, &signals.original_mask);
    if (code < 0)
        return code;
    signals.fd = trk__os_signal_fd(&signals.taken);
    if (signals.fd < 0)
        return signals.fd;
    *ret_signals = signals;
    return 0;
}

void cli_signals_restore_in_child(const struct cli_signals *signals)
{
    if (signals->original_chld.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &signals->original_chld, NULL);
    trk__os_signal_mask(SIG_SETMASK, &signals->original_mask, NULL);
}

static void unblock(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void cli_signals_die_of(int signal)
{
    trk__os_prevent_core();
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, &standard, NULL);
    raise(signal);
    unblock(signal);
}

void cli_signals_stop_by(int signal)
{
    sigset_t before;
    sigprocmask(SIG_SETMASK, NULL, &before);
    raise(signal);
    unblock(signal);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

const char *cli_signal_name(int signal)
{
    /* By name, not by number: the numbers differ between machines. */
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
        {SIGILL, "SIGILL"},       {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
        {SIGBUS, "SIGBUS"},       {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
        {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"},     {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
        {SIGCHLD, "SIGCHLD"},     {SIGCONT, "SIGCONT"}, {SIGSTOP, "SIGSTOP"},
        {SIGTSTP, "SIGTSTP"},     {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"},
        {SIGURG, "SIGURG"},       {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
        {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"},
        {SIGIO, "SIGIO"},         {SIGSYS, "SIGSYS"},
#ifdef SIGPWR
        {SIGPWR, "SIGPWR"},
#endif
#ifdef SIGSTKFLT
        {SIGSTKFLT, "SIGSTKFLT"},
#endif
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].number == signal)
            return names[i].name;
    return NULL;
}
