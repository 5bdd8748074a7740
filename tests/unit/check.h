/* A small test harness: CHECK says what failed and goes on, so that one run shows all of it. */
#ifndef TRK_TESTS_CHECK_H
#define TRK_TESTS_CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
        }                                                                                          \
    } while (0)

#define CHECK_U64(actual, expected)                                                                \
    do {                                                                                           \
        unsigned long long a_ = (unsigned long long)(actual);                                      \
        unsigned long long e_ = (unsigned long long)(expected);                                    \
        if (a_ != e_) {                                                                            \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s is %llu, not %llu\n", __FILE__, __LINE__, #actual, a_, e_); \
        }                                                                                          \
    } while (0)

#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        double a_ = (actual), e_ = (expected);                                                     \
        if (!(fabs(a_ - e_) <= (tolerance))) {                                                     \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #actual, a_,    \
                    e_);                                                                           \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                               \
    do {                                                                                           \
        const char *a_ = (actual), *e_ = (expected);                                               \
        if (!a_ || strcmp(a_, e_) != 0) {                                                          \
            check_failures++;                                                                      \
            fprintf(stderr, "%s:%d: %s is\n  %s\nnot\n  %s\n", __FILE__, __LINE__, #actual,        \
                    a_ ? a_ : "(null)", e_);                                                       \
        }                                                                                          \
    } while (0)

/* Runs a test function and counts it. */
static int check_count;
#define RUN(test)                                                                                  \
    do {                                                                                           \
        int before_ = check_failures;                                                              \
        check_count++;                                                                             \
        test();                                                                                    \
        if (check_failures != before_)                                                             \
            fprintf(stderr, "FAILED: %s\n", #test);                                                \
    } while (0)

static inline int check_done(const char *module)
{
    printf("%s: %d tests, %d failed checks\n", module, check_count, check_failures);
    return check_failures ? 1 : 0;
}

#endif
