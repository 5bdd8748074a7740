/* Wall time of commands, one after the other in each round, so that all see the same machine.
 *
 *   wrap_time ROUNDS REST_MS :: COMMAND ARGS... :: COMMAND ARGS...
 *
 * Prints for each command "median_ns p10_ns". Before each the machine rests for REST_MS. Commands get /dev/null for stdin, stdout and stderr. A
 * command is spawned with posix_spawn, so the parent's size does not count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MAX_COMMANDS = 16, WARM_ROUNDS_MAX = 5 };

static void fail(const char *what, int code)
{
    fprintf(stderr, "wrap_time: %s: %s\n", what, strerror(code));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t run_once_ns(char **command, const posix_spawn_file_actions_t *actions)
{
    pid_t pid;
    uint64_t begin = now_ns();
    int code = posix_spawn(&pid, command[0], actions, NULL, command, environ);
    if (code != 0)
        fail(command[0], code);
    int status;
    struct rusage usage;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            fail("wait4", errno);
    uint64_t elapsed_ns = now_ns() - begin;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "wrap_time: %s failed (wait status %d)\n", command[0], status);
        exit(1);
    }
    return elapsed_ns;
}

static int compare_ns(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Splits argv at each "::" and gives the number of commands. */
static unsigned split_commands(char **words, char **ret_commands[MAX_COMMANDS])
{
    unsigned count = 0;
    for (char **word = words; *word; word++) {
        if (strcmp(*word, "::") != 0)
            continue;
        *word = NULL;
        if (!word[1] || count == MAX_COMMANDS)
            fail("a command is missing, or there are too many", EINVAL);
        ret_commands[count++] = word + 1;
    }
    return count;
}

static void open_null(posix_spawn_file_actions_t *actions)
{
    posix_spawn_file_actions_init(actions);
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

static void rest(unsigned long ms)
{
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    while (ms && nanosleep(&time, &time) < 0 && errno == EINTR)
        continue;
}

int main(int argc, char **argv)
{
    char **command[MAX_COMMANDS];
    unsigned long rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long rest_ms = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned count = rounds > 0 ? split_commands(argv + 3, command) : 0;
    if (count == 0) {
        fprintf(stderr,
                "usage: wrap_time ROUNDS REST_MS :: COMMAND ARGS... [:: COMMAND ARGS...]...\n");
        return 2;
    }
    uint64_t *time_ns = calloc(rounds * count, sizeof *time_ns);
    if (!time_ns)
        fail("calloc", ENOMEM);
    posix_spawn_file_actions_t actions;
    open_null(&actions);
    unsigned long warm_rounds = rounds < 10 * WARM_ROUNDS_MAX ? rounds / 10 + 1 : WARM_ROUNDS_MAX;
    for (unsigned long i = 0; i < warm_rounds * count; i++)
        run_once_ns(command[i % count], &actions);
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned i = 0; i < count; i++) {
            rest(rest_ms);
            time_ns[i * rounds + round] = run_once_ns(command[i], &actions);
        }
    for (unsigned i = 0; i < count; i++) {
        uint64_t *own = time_ns + i * rounds;
        qsort(own, rounds, sizeof *own, compare_ns);
        printf("%llu %llu\n", (unsigned long long)own[rounds / 2],
               (unsigned long long)own[rounds / 10]);
    }
    free(time_ns);
    return 0;
}
