/* refuse [--loop] COMMAND ARGS...: runs the command where a seccomp filter, as strict containers have one, refuses all that
 * exact totals could come from: perf events, netlink sockets, ptrace and the making of folders. With --loop it refuses
 * the wait for events instead, so that a session can't go on. */
#include "../../real/workloads/workload.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS_NOT(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSE_CALL(number) IS_NOT((number), 1), RETURN(SECCOMP_RET_ERRNO | EPERM)

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        REFUSE_CALL(SYS_perf_event_open),
        REFUSE_CALL(SYS_ptrace),
        REFUSE_CALL(SYS_mkdirat),
#ifdef SYS_mkdir
        REFUSE_CALL(SYS_mkdir),
#endif
        IS_NOT(SYS_socket, 3),
        LOAD(args[0]),
        IS_NOT(AF_NETLINK, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_filter loop_filter[] = {
        LOAD(nr),
#ifdef SYS_epoll_wait
        REFUSE_CALL(SYS_epoll_wait),
#endif
        REFUSE_CALL(SYS_epoll_pwait),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (argc > 2 && strcmp(argv[1], "--loop") == 0) {
        program = (struct sock_fprog){.len = sizeof loop_filter / sizeof *loop_filter,
                                      .filter = loop_filter};
        argv++;
        argc--;
    }
    if (argc < 2)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        fail("seccomp");
    execvp(argv[1], argv + 1);
    fail(argv[1]);
}
