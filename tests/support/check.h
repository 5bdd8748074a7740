/* A small test harness with TAP output (https://testanything.org): one line for each test function.
 *
 *   CHECK...    a failure is reported and the test continues, so that one run shows all of them
 *   REQUIRE...  a failure ends the test: for what the lines after it depend on
 *   SKIP        ends the test: this machine cannot run it. With TRK_MUST_WORK set that is a failure.
 *
 * All of them can stand in helper functions. REQUIRE and SKIP belong to the thread that runs the test; in a forked
 * child they end the child.
 *
 *   int main(int argc, char *argv[])
 *   {
 *       static const struct check_test tests[] = {
 *           TEST(first),
 *           TEST(second),
 *       };
 *       return CHECK_MAIN(argc, argv, tests);
 *   }
 *
 * The program runs all tests, or those that its arguments name (the whole name or a part); --list prints the names. */
#ifndef TRK_TESTS_CHECK_H
#define TRK_TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct check_test {
    const char *name;
    void (*run)(void);
};

#define TEST(function)                                                                             \
    {                                                                                              \
#function, function                                                                        \
    }
#define CHECK_MAIN(argc, argv, tests) check_main(argc, argv, tests, sizeof(tests) / sizeof *(tests))

int check_main(int argc, char *argv[], const struct check_test *tests, size_t count);

/* Whether a check of the running test has failed. */
bool check_failed(void);

/* A failure, and a note that is not a failure. Each line of the text becomes a diagnostic on standard error. */
__attribute__((format(printf, 3, 4))) void check_fail(const char *file, int line,
                                                      const char *format, ...);
__attribute__((format(printf, 1, 2))) void check_note(const char *format, ...);

/* A fork that worked. The child is killed when the test program ends, however that happens. */
pid_t check_fork(void);

/* Kills and reaps a process. The PID must be positive: kill(-1) and kill(0) would reach other processes. */
void check_kill(pid_t pid);

/* Asks every millisecond whether a state is reached. After a minute the test ends as failed. */
#define WAIT_UNTIL(state)                                                                          \
    do {                                                                                           \
        for (int i_ = 0; !(state); i_++) {                                                         \
            if (i_ == 60000) {                                                                     \
                FAIL("not reached: %s", #state);                                                   \
                check_end_test();                                                                  \
            }                                                                                      \
            usleep(1000);                                                                          \
        }                                                                                          \
    } while (0)

_Noreturn void check_end_test(void);
_Noreturn __attribute__((format(printf, 1, 2))) void check_skip(const char *format, ...);

#define FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define SKIP(...) check_skip(__VA_ARGS__)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL("not true: %s", #condition);                                                      \
    } while (0)

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            FAIL("not true: %s", #condition);                                                      \
            check_end_test();                                                                      \
        }                                                                                          \
    } while (0)

#define CHECK_U64(actual, expected)                                                                \
    do {                                                                                           \
        unsigned long long a_ = (unsigned long long)(actual);                                      \
        unsigned long long e_ = (unsigned long long)(expected);                                    \
        if (a_ != e_)                                                                              \
            FAIL("%s is %llu, not %llu", #actual, a_, e_);                                         \
    } while (0)

#define REQUIRE_U64(actual, expected)                                                              \
    do {                                                                                           \
        unsigned long long a_ = (unsigned long long)(actual);                                      \
        unsigned long long e_ = (unsigned long long)(expected);                                    \
        if (a_ != e_) {                                                                            \
            FAIL("%s is %llu, not %llu", #actual, a_, e_);                                         \
            check_end_test();                                                                      \
        }                                                                                          \
    } while (0)

#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        double a_ = (actual), e_ = (expected);                                                     \
        if (!(fabs(a_ - e_) <= (tolerance)))                                                       \
            FAIL("%s is %.17g, not %.17g", #actual, a_, e_);                                       \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                               \
    do {                                                                                           \
        const char *a_ = (actual), *e_ = (expected);                                               \
        if (!a_ || strcmp(a_, e_) != 0)                                                            \
            FAIL("%s is\n  %s\nnot\n  %s", #actual, a_ ? a_ : "(null)", e_);                       \
    } while (0)

#endif
