/* A page that tells a run: report [RUN] [-o FILE] [--open], and --report FILE of the commands that measure. */
#include "platform/os.h"
#include "report_file.h"
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

/* ---- writing ------------------------------------------------------------------------- */

struct page {
    char *html;
    size_t len;
};

static int write_page(const void *context, int fd, struct trk_error *error)
{
    (void)error;
    const struct page *page = context;
    for (size_t done = 0; done < page->len;) {
        ssize_t wrote = write(fd, page->html + done, page->len - done);
        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static int make_page(const char *run, const struct cli_options *options, struct page *ret_page)
{
    struct trk_report_options wishes;
    trk_report_options_init(&wishes);
    if (options->alone)
        wishes.history = 1;
    struct trk_error error = {0};
    int code = trk_report_run(run, &wishes, &ret_page->html, &ret_page->len, &error);
    if (code < 0)
        cli_fail("%s", error.message);
    return code;
}

/* ---- with a run ---------------------------------------------------------------------- */

int cli_report_check(const struct cli_options *options)
{
    /* A library without the page says so before it looks at anything else. */
    struct trk_error error = {0};
    char *html;
    if (options->report_path && trk_report("", 0, NULL, &html, NULL, &error) == -ENOSYS)
        return cli_fail("--report: %s", error.message);
    return 0;
}

int cli_report_save(trk_session *session, const struct cli_options *options)
{
    if (!options->report_path)
        return 0;
    struct page page = {0};
    trk_run *run = NULL;
    struct trk_error error = {0};
    int code = trk_session_run(session, &run, &error);
    if (code == 0)
        code = trk_run_report(run, NULL, &page.html, &page.len, &error);
    trk_run_free(run);
    if (code < 0) {
        cli_fail("--report %s cannot be made: %s", options->report_path, error.message);
        return code;
    }
    struct cli_whole_file file = {"--report", options->report_path, options->session.overwrite,
                                  write_page, &page};
    code = cli_whole_file_save(&file);
    trk_free(page.html);
    return code;
}

/* ---- the command --------------------------------------------------------------------- */

/* Whatever the desktop opens pages with. The page stays: the program may read it after we are gone. */
static int open_page(const char *path)
{
    char *words[] = {(char *)"xdg-open", (char *)path, NULL};
    const char *chosen = getenv("BROWSER");
    if (chosen && *chosen && !strchr(chosen, ':') && !strchr(chosen, '%'))
        words[0] = (char *)chosen;
    pid_t pid;
    int status, code = posix_spawnp(&pid, words[0], NULL, NULL, words, trk__os_environment());
    if (code)
        return cli_fail("the page is at %s, but %s can't be started (%s); open it by hand", path,
                        words[0], strerror(code));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return cli_fail("the page is at %s, but %s could not open it; open it by hand", path,
                        words[0]);
    return 0;
}

/* --open without -o: a file of its own in the folder for temporary ones. */
static int write_temporary(const struct page *page, char ret_path[PATH_SIZE])
{
    const char *folder = getenv("TMPDIR");
    static const char suffix[] = ".html";
    int len = snprintf(ret_path, PATH_SIZE, "%s/resource-tracker-XXXXXX%s",
                       folder && *folder ? folder : "/tmp", suffix);
    int fd = len < PATH_SIZE ? mkostemps(ret_path, (int)sizeof suffix - 1, O_CLOEXEC) : -1;
    int code = fd < 0 ? -errno : write_page(page, fd, NULL);
    if (fd >= 0 && close(fd) < 0 && code == 0)
        code = -errno;
    return code < 0 ? cli_fail("%s: %s", ret_path, strerror(-code)) : 0;
}

static int deliver(const struct page *page, const struct cli_options *options)
{
    const char *path = options->session.output_path;
    char temporary[PATH_SIZE];
    if (!path && options->open) {
        int status = write_temporary(page, temporary);
        return status ? status : open_page(temporary);
    }
    struct cli_whole_file file = {"--output", path ? path : "-", options->session.overwrite,
                                  write_page, page};
    int code = cli_whole_file_save(&file);
    if (code < 0)
        return code == -EPIPE ? 0 : CLI_EXIT_OWN;
    return options->open ? open_page(path) : 0;
}

static int check_wishes(const struct cli_options *options)
{
    const char *path = options->session.output_path;
    if (options->operands[0] && options->operands[1])
        return cli_misuse("report is of one run; '%s' is one word too many", options->operands[1]);
    if (options->open && path && strcmp(path, "-") == 0)
        return cli_misuse("--open needs a file: give -o FILE, or none for a temporary one");
    if (!path && !options->open && isatty(STDOUT_FILENO))
        return cli_misuse(
            "a page is nothing to read on a terminal: give -o FILE, or --open to look "
            "at it in a browser");
    struct cli_whole_file file = {
        .option = "--output", .path = path, .overwrite = options->session.overwrite};
    return cli_whole_file_check(&file);
}

int cli_cmd_report(const struct cli_options *options)
{
    int status = check_wishes(options);
    if (status)
        return status;
    struct page page = {0};
    if (make_page(options->operands[0], options, &page) < 0)
        return CLI_EXIT_OWN;
    status = deliver(&page, options);
    trk_free(page.html);
    return status;
}
