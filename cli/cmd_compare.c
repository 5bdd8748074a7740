#include "compare_table.h"
#include "gates.h"
#include "text.h"
#include "whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct page {
    const char *text;
    size_t len;
};

static int write_page(const void *context, int fd, struct trk_error *error)
{
    const struct page *page = context;
    (void)error;
    return cli_text_write(page->text, page->len, fd);
}

/* The page in FILE. 0 or an exit status. */
static int write_file(const trk_comparison *comparison, const struct cli_options *options)
{
    char *html;
    size_t len;
    struct trk_error error = {0};
    if (trk_comparison_page(comparison, &html, &len, &error) < 0) {
        cli_fail("%s", error.message);
        return CLI_EXIT_FAILURE;
    }
    struct page page = {html, len};
    struct cli_whole_file file = {"--output", options->session.output_path,
                                  options->session.overwrite, write_page, &page};
    int code = cli_whole_file_check(&file);
    if (code == 0)
        code = cli_whole_file_save(&file);
    trk_free(html);
    return code ? CLI_EXIT_FAILURE : 0;
}

static int compare_sides(const trk_side *base, const trk_side *new_side,
                         const struct cli_options *options)
{
    struct trk_error error = {0};
    trk_comparison *comparison;
    if (trk_compare(base, new_side, &comparison, &error) < 0) {
        cli_fail("%s", error.message);
        return CLI_EXIT_FAILURE;
    }
    bool fails = cli_gates_fail(comparison, &options->comparing, NULL, true);
    int status = 0;
    if (options->session.output_path)
        status = write_file(comparison, options);
    if (status == 0 && (options->json || options->comparing.markdown))
        status = cli_comparison_print(comparison, options->json ? TRK_COMPARISON_JSON
                                                                : TRK_COMPARISON_MARKDOWN);
    else if (status == 0 && !options->session.output_path) {
        char base_title[32], new_title[32];
        snprintf(base_title, sizeof base_title, "base (%zu)", trk_side_count(base));
        snprintf(new_title, sizeof new_title, "new (%zu)", trk_side_count(new_side));
        status = cli_comparison_written(
            cli_compare_table_print(comparison, base_title, new_title, STDOUT_FILENO));
    }
    trk_comparison_free(comparison);
    return status ? status : fails ? CLI_EXIT_FAILURE : 0;
}

int cli_cmd_compare(const struct cli_options *options)
{
    char **words = options->operands;
    if (!words[0] || !words[1] || words[2]) {
        cli_fail("compare needs two sides: resource-tracker compare BASE NEW; several runs are a "
                 "folder, a key, a baseline or ids with commas between");
        return CLI_EXIT_USAGE;
    }
    if (cli_gates_check(&options->comparing, true) < 0)
        return CLI_EXIT_USAGE;
    trk_side *base = cli_side_load(words[0]);
    trk_side *new_side = base ? cli_side_load(words[1]) : NULL;
    int status = CLI_EXIT_FAILURE;
    if (base && new_side)
        status = compare_sides(base, new_side, options);
    trk_side_free(base);
    trk_side_free(new_side);
    return status;
}
