/* System calls that differ between operating systems, where POSIX has no form of them: below every other module, so any
 * file can include this header, those of cli/ too. One implementation is linked (src/platform/meson.build). */
#ifndef TRK_PLATFORM_OS_H
#define TRK_PLATFORM_OS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- files ---- */

/* Opens a place in the file tree: other files are opened below it, itself it is not read or written. `is_folder`: -ENOTDIR
 * for anything else. A descriptor or a negative code. */
int trk__os_open_place(int folder_fd, const char *path, bool is_folder);

/* A file in memory that has no name; `ret_path` opens it again in this process. A descriptor or a negative code. */
int trk__os_memory_file(char *ret_path, size_t size);

/* Returns when the contents of the file are on the disk: 0 or -1 and errno. */
int trk__os_sync_data(int fd);

int64_t trk__os_modified_ns(const struct stat *status);

/* Renames a file unless there is one with the new name: -EEXIST. -ENOTSUP: the file system cannot promise that. */
int trk__os_rename_new(const char *from, const char *to);

/* A pipe whose ends are closed on exec. */
int trk__os_pipe(bool nonblocking, int ret_ends[2]);

/* Two connected stream sockets that are closed on exec. */
int trk__os_socket_pair(int ret_ends[2]);

/* A stream socket that is closed on exec and does not block. A descriptor or a negative code. */
int trk__os_stream_socket(int family);

/* False where no random bytes are available without waiting. */
bool trk__os_random(void *ret_bytes, size_t size);

/* A variable of the environment; NULL also in a set-user-ID program. */
const char *trk__os_trusted_variable(const char *name);

/* All variables of this process, as posix_spawn takes them. */
char **trk__os_environment(void);

/* ---- the machine ---- */

/* Processors that this process can run on; 0: unknown. */
unsigned trk__os_allowed_cpus(void);

/* The clock that start times of processes are counted by: since boot, suspended time included. 0: unknown. */
int64_t trk__os_boot_clock_ns(void);

/* ---- processes ---- */

/* Orphaned descendants become children of this process, where the system has that. */
void trk__os_adopt_orphans(void);

/* Sends this process `signal` when its parent exits, where the system has that. */
void trk__os_signal_at_parent_exit(int signal);

/* This process leaves no core file. */
void trk__os_prevent_core(void);

int64_t trk__os_thread_id(void);

/* Peak RSS of this process as getrusage counts it: what it had before its exec included. 0: unknown. */
uint64_t trk__os_peak_rss_bytes(void);

enum trk_os_stop { TRK_OS_RUNS, TRK_OS_STOPPED, TRK_OS_HELD_BY_TRACER };
enum trk_os_stop trk__os_process_stop(pid_t pid);

/* A descriptor that stands for a child, whatever becomes of its PID; -1: there is none. */
int trk__os_child_open(pid_t pid);
void trk__os_child_kill(int child_fd);
void trk__os_child_wait(int child_fd);

/* ---- signals and time ---- */

/* sigprocmask(2), for a mask that a child inherits: also the signals that a C library keeps for itself are in it. */
int trk__os_signal_mask(int how, const sigset_t *signals, sigset_t *ret_before);

/* A descriptor that the loop takes blocked signals from (wait_loop.h), or a negative code. */
int trk__os_signal_fd(const sigset_t *signals);

/* Waits for one of the blocked signals. Returns its number, 0 when interrupted. `ret_from_terminal`: the kernel sent it. */
int trk__os_signal_wait(const sigset_t *signals, bool *ret_from_terminal);

/* Whether the terminal sent it to the whole process group. */
bool trk__os_signal_is_of_terminal(const siginfo_t *info);

/* Sends a signal to this process again as it had come: with its sender, where the system can. */
void trk__os_signal_again(int signal, siginfo_t *info);

/* A timer that sends this process SIGALRM. Not alarm(2): an alarm that was set before the exec is meant for the job. */
struct trk_os_alarm {
    void *timer;
};
int trk__os_alarm_init(struct trk_os_alarm *alarm);
void trk__os_alarm_set(struct trk_os_alarm *alarm, int64_t at_monotonic_ns);

/* A condition whose waits end by the monotonic clock. 0 or a negative code; -ETIMEDOUT. */
int trk__os_cond_init(pthread_cond_t *cond);
int trk__os_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock,
                            int64_t until_monotonic_ns);

#endif
