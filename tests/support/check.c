#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct {
    jmp_buf end;
    pid_t pid; /* a child that a test forks must not continue with the next test */
    unsigned failures;
    char skip_reason[256];
} running;

bool check_failed(void)
{
    return running.failures > 0;
}

static void print_diagnostic(const char *where, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        abort();
    fprintf(stderr, "# %s",
            where); /* Meson shows it for a failed program, and not the TAP output */
    for (const char *c = text; *c; c++)
        if (*c != '\n')
            fputc(*c, stderr);
        else if (c[1])
            fputs("\n# ", stderr);
    fputc('\n', stderr);
    free(text);
}

void check_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_diagnostic("", format, args);
    va_end(args);
}

void check_fail(const char *file, int line, const char *format, ...)
{
    char where[256];
    snprintf(where, sizeof where, "%s:%d: ", file, line);
    running.failures++;
    va_list args;
    va_start(args, format);
    print_diagnostic(where, format, args);
    va_end(args);
}

_Noreturn void check_end_test(void)
{
    if (getpid() != running.pid)
        _exit(1);
    longjmp(running.end, 1);
}

_Noreturn void check_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(running.skip_reason, sizeof running.skip_reason, format, args);
    va_end(args);
    if (getenv("TRK_MUST_WORK"))
        FAIL("skipped although TRK_MUST_WORK is set: %s", running.skip_reason);
    check_end_test();
}

pid_t check_fork(void)
{
    pid_t parent = getpid(), pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
        _exit(1);
    return pid;
}

void check_kill(pid_t pid)
{
    REQUIRE(pid > 0);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, NULL, 0) == pid);
}

/* A program that a script starts in its background, or that nohup or cron starts, has signals ignored. */
__attribute__((constructor)) static void reset_signals(void)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                                  SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGXFSZ};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
}

static bool all_have_run;

/* A test that calls exit() would look like a program without tests, which Meson reports as skipped. */
static void refuse_early_exit(void)
{
    if (all_have_run || getpid() != running.pid)
        return;
    puts("Bail out! A test called exit().");
    fflush(stdout);
    _exit(1);
}

/* The name is printed first: a test that crashes or hangs is the last one that the output names. */
static bool run_one(const struct check_test *test, size_t number)
{
    fprintf(stderr, "# running %s\n", test->name);
    running.pid = getpid();
    running.failures = 0;
    running.skip_reason[0] = '\0';
    if (setjmp(running.end) == 0)
        test->run();
    if (getpid() != running.pid)
        _exit(1); /* a child that a test forked and that returned */
    bool skipped = running.skip_reason[0] && !check_failed();
    printf("%s %zu - %s%s%s\n", check_failed() ? "not ok" : "ok", number, test->name,
           skipped ? " # SKIP " : "", skipped ? running.skip_reason : "");
    return !check_failed();
}

/* Marks the tests that an argument names; false: there is none. */
static bool select_by_name(const char *name, const struct check_test *tests, size_t count,
                           bool *selected)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].name, name) == 0)
            return selected[i] = true;
    for (size_t i = 0; i < count; i++)
        if (strstr(tests[i].name, name))
            found = selected[i] = true;
    return found;
}

int check_main(int argc, char *argv[], const struct check_test *tests, size_t count)
{
    if (check_failed()) {
        puts("Bail out! The set-up of the tests failed.");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a forked child must not inherit unwritten lines */
    size_t planned = 0, number = 0, failed = 0;
    bool *selected = calloc(count, sizeof *selected);
    if (!selected)
        abort();
    for (int i = 1; i < argc; i++) {
        bool lists = strcmp(argv[i], "--list") == 0;
        if (!lists && select_by_name(argv[i], tests, count, selected))
            continue;
        if (!lists)
            fprintf(stderr, "no test has '%s' in its name; the tests are:\n", argv[i]);
        for (size_t j = 0; j < count; j++)
            fprintf(lists ? stdout : stderr, "%s\n", tests[j].name);
        free(selected);
        return lists ? 0 : 2;
    }
    for (size_t i = 0; i < count; i++)
        planned += selected[i] |= argc < 2;
    printf("1..%zu\n", planned);
    atexit(refuse_early_exit);
    for (size_t i = 0; i < count; i++)
        if (selected[i])
            failed += !run_one(&tests[i], ++number);
    all_have_run = true;
    free(selected);
    return failed > 0;
}
