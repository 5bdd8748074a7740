/* signals: prints "ready PID", then a line for each signal that arrives, until there is input. */
#include "workload.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

static const int watched[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,
                              SIGUSR2, SIGTERM, SIGCONT, SIGWINCH};

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
        sigaddset(&set, watched[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        fail("sigprocmask");
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        fail("signalfd");
    return fd;
}

int main(void)
{
    struct pollfd waits[] = {{open_signals(), POLLIN, 0}, {0, POLLIN, 0}};
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            fail("poll");
        if (waits[0].revents) {
            struct signalfd_siginfo info;
            if (read(waits[0].fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
                fail("read");
            printf("%s\n", sigabbrev_np((int)info.ssi_signo));
            fflush(stdout);
        } else if (waits[1].revents) {
            printf("end\n");
            return 0;
        }
    }
}
