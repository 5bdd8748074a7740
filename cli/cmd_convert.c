/* Rows in another format or schema. */
#include "cli.h"

#include <stdio.h>

int cli_cmd_convert(const struct cli_options *options)
{
    char **words = options->operands;
    if (!words[0] || !words[1] || words[2])
        return cli_fail("convert takes two files: resource-tracker convert IN OUT");
    struct trk_convert_options convert;
    trk_convert_options_init(&convert);
    convert.format = options->session.format;
    convert.schema = options->session.schema;
    convert.overwrite = options->session.overwrite;
    convert.rows_max = options->rows_max > 0 ? (uint64_t)options->rows_max : 0;
    uint64_t lost = 0;
    struct trk_error error = {0};
    if (trk_convert(words[0], words[1], &convert, &lost, &error) < 0)
        return cli_fail("%s", error.message);
    if (lost)
        fprintf(stderr, "resource-tracker: %llu column%s of %s %s no place in %s\n",
                (unsigned long long)lost, lost == 1 ? "" : "s", words[0],
                lost == 1 ? "has" : "have", words[1]);
    return 0;
}
