/* held_at CALL COMMAND...: runs the command and holds it before its CALL-th system call on files, which with +CALL are
 * counted from its first child on, or with "fork" before it makes its first child. Prints "held" to standard error then and reads a line from standard input before the
 * command goes on; prints "over" instead where the command makes fewer calls. So a test can change files or let processes
 * end at every step of what a program does with them. It ignores SIGINT itself; the command does not. */
#include "workload.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

static int is_about_files(long call)
{
    static const long calls[] = {
        SYS_openat,   SYS_getdents64, SYS_newfstatat, SYS_fstat,  SYS_faccessat,  SYS_readlinkat,
        SYS_unlinkat, SYS_renameat2,  SYS_pread64,    SYS_statx,  SYS_faccessat2, SYS_write,
        SYS_fsync,    SYS_fdatasync,  SYS_ftruncate,
#ifdef SYS_open /* what libc calls where the kernel has the older ones */
        SYS_open,     SYS_access,     SYS_stat,       SYS_unlink, SYS_rename,     SYS_readlink,
#endif
#ifdef SYS_renameat
        SYS_renameat,
#endif
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i] == call)
            return 1;
    return 0;
}

static int makes_a_child(long call)
{
#ifdef SYS_vfork
    if (call == SYS_vfork)
        return 1;
#endif
    return call == SYS_clone || call == SYS_clone3;
}

static long call_of(pid_t pid)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0)
        fail("PTRACE_GET_SYSCALL_INFO");
    return info.op == PTRACE_SYSCALL_INFO_ENTRY ? (long)info.entry.nr : -1;
}

static void say_and_wait(void)
{
    char line[64];
    fprintf(stderr, "held\n");
    if (!fgets(line, sizeof line, stdin))
        fail("standard input");
}

/* Its exit status. `wanted` 0: held before its first child. */
static int follow(pid_t pid, long wanted, int is_counting)
{
    int status;
    long seen = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) /* at its exec */
        fail("exec");
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (int signal = 0;;) {
        if (ptrace(PTRACE_SYSCALL, pid, 0, signal) < 0 || waitpid(pid, &status, 0) != pid)
            fail("ptrace");
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            fprintf(stderr, "over\n");
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        int is_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        signal = is_call ? 0 : WSTOPSIG(status);
        long call = is_call ? call_of(pid) : -1;
        if (!wanted && makes_a_child(call))
            break;
        is_counting |= makes_a_child(call);
        if (is_counting && is_about_files(call) && ++seen == wanted)
            break;
    }
    say_and_wait();
    ptrace(PTRACE_DETACH, pid, 0, 0);
    if (waitpid(pid, &status, 0) != pid)
        fail("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[2], argv + 2);
        fail("exec");
    }
    signal(SIGINT, SIG_IGN);
    return follow(pid, strtol(argv[1], NULL, 10), argv[1][0] != '+');
}
