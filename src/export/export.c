#include "export/export.h"

#include "base/error.h"
#include "base/file.h"
#include "base/real.h"

#include <errno.h>
#include <string.h>

enum { TEXT_LIMIT = 4 << 20 };

static const struct {
    const char *name;
    void (*add)(const struct trk_export_facts *facts, struct trk_buffer *text);
} formats[] = {
    {"snakemake", trk__export_snakemake},     {"nextflow", trk__export_nextflow},
    {"time", trk__export_gnu_time},           {"hyperfine", trk__export_hyperfine},
    {"openmetrics", trk__export_openmetrics},
};

const char *trk__export_name(size_t index)
{
    return index < sizeof formats / sizeof *formats ? formats[index].name : NULL;
}

int trk__export(const char *format, const struct trk_export_facts *facts, struct trk_buffer *text)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) != 0)
            continue;
        formats[i].add(facts, text);
        return text->failure;
    }
    return -ENOENT;
}

int trk__export_to(const char *format, const struct trk_export_facts *facts, int fd,
                   struct trk_error *error)
{
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_LIMIT);
    int code = trk__export(format, facts, &text);
    if (code == -ENOENT)
        trk__error_set(error, code, "'%.64s' is no format of --export", format);
    else if (code == 0)
        code = trk__file_write_all(fd, text.data, text.len);
    if (code < 0 && code != -ENOENT)
        trk__error_set(error, code, "can't write it: %s", strerror(-code));
    trk__buffer_done(&text);
    return code;
}

void trk__export_add_command(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    for (size_t i = 0; facts->command && facts->command[i]; i++) {
        if (i > 0)
            trk__buffer_add_char(text, ' ');
        trk__buffer_add_text(text, facts->command[i]);
    }
}

double trk__export_rss_peak_bytes(const struct trk_export_facts *facts)
{
    /* fmax prefers a number to a NaN. */
    return trk__fmax(facts->rss_max_bytes, trk__export_total(&facts->summary->peak_memory_bytes));
}
