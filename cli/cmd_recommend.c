#include "cli.h"
#include "human.h"
#include "rent_table.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[TRK_LEVEL_COUNT] = {
    [TRK_LEVEL_LEAN] = "lean", [TRK_LEVEL_BALANCED] = "balanced", [TRK_LEVEL_SAFE] = "safe"};

enum { LABEL_COLUMNS = 10, CURVE_SIZE = 512 };

/* The text is complete before any of it goes out. */
static int print_text(const char *text)
{
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
        return cli_fail("can't write to standard output: %s", strerror(errno));
    return 0;
}

/* ---- JSON and pasting ---------------------------------------------------------------- */

static int print_json(const trk_recommendation *recommendation, const struct cli_options *options,
                      const struct cli_rent *rent)
{
    char *json;
    struct trk_error error = {0};
    if (trk_recommendation_json_for(recommendation, options->level, &rent->options, &json, &error) <
        0)
        return cli_rent_fail(rent, &error);
    int status = print_text(json);
    free(json);
    return status ? status : print_text("\n");
}

static int print_form(const trk_recommendation *recommendation, const char *form,
                      enum trk_level level)
{
    char *text;
    struct trk_error error = {0};
    if (trk_recommendation_paste(recommendation, form, level, &text, &error) < 0)
        return cli_fail("%s", error.message);
    int status = print_text(text);
    free(text);
    return status;
}

static int print_all_forms(const trk_recommendation *recommendation, enum trk_level level)
{
    int status = 0;
    const char *form;
    for (size_t i = 0; status == 0 && (form = trk_paste_form(i)); i++) {
        printf("%s== %s\n", i ? "\n" : "", form);
        status = print_form(recommendation, form, level);
    }
    return status;
}

/* What Keeper knows of filters only Keeper can say, and there is nothing to ask it here. */
static int check_filters(const struct cli_rent *rent)
{
    trk_rent *servers = NULL;
    struct trk_error error = {0};
    if (rent->options.online || !rent->filters[0])
        return 0;
    int code = trk_rent_find(&rent->options, &servers, &error);
    trk_rent_free(servers);
    return code < 0 ? cli_rent_fail(rent, &error) : 0;
}

static int print_paste(const trk_recommendation *recommendation, const struct cli_options *options,
                       const struct cli_rent *rent)
{
    if (check_filters(rent) != 0)
        return CLI_EXIT_OWN;
    const char *refusal = trk_recommendation_refusal(recommendation);
    if (refusal)
        return cli_fail("nothing to paste: %s; resource-tracker recommend shows them", refusal);
    if (options->paste == CLI_PASTE_ALL)
        return print_all_forms(recommendation, options->level);
    return print_form(recommendation, trk_paste_form((size_t)options->paste - CLI_PASTE_FIRST),
                      options->level);
}

/* ---- the table ----------------------------------------------------------------------- */

static void add_cell(struct cli_text *text, int width, const char *value)
{
    cli_text_add(text, " %*s", width, value);
}

static void add_count(struct cli_text *text, int width, double value)
{
    char cell[CLI_HUMAN_SIZE] = "-";
    if (!isnan(value))
        snprintf(cell, sizeof cell, "%.0f", value);
    add_cell(text, width, cell);
}

static void add_bytes(struct cli_text *text, int width, double bytes)
{
    char cell[CLI_HUMAN_SIZE];
    add_cell(text, width, isnan(bytes) ? "-" : cli_human_bytes(bytes, cell));
}

static void add_percent(struct cli_text *text, int width, double ratio)
{
    char cell[CLI_HUMAN_SIZE];
    add_cell(text, width, isnan(ratio) ? "-" : cli_human_percent(ratio, cell));
}

static void add_level(struct cli_text *text, const char *name, const struct trk_need *need)
{
    cli_text_add(text, "  %-*s", LABEL_COLUMNS, name);
    add_count(text, 5, need->cpu_cores);
    add_percent(text, 8, need->slowdown_ratio);
    add_bytes(text, 10, need->memory_bytes);
    add_percent(text, 7, need->memory_risk);
    add_count(text, 5, need->gpu_devices);
    add_bytes(text, 10, need->vram_bytes > 0 ? need->vram_bytes : NAN);
    cli_text_add(text, "\n");
}

static void add_classic(struct cli_text *text, const struct trk_recommend_basis *basis)
{
    const double mib = 1048576;
    struct trk_need need = {.cpu_cores = basis->classic_cpu_cores,
                            .slowdown_ratio = NAN,
                            .memory_bytes = basis->classic_memory_mib * mib,
                            .memory_risk = NAN,
                            .gpu_devices = basis->classic_gpu_devices,
                            .vram_bytes = basis->classic_vram_mib * mib};
    add_level(text, "classic", &need);
}

static void add_reason(struct cli_text *text, const char *what, const char *why)
{
    if (!why || !*why)
        return;
    cli_text_add(text, "  %-*s ", LABEL_COLUMNS, what);
    cli_text_add_wrapped(text, LABEL_COLUMNS + 3, why);
}

static void add_curve(struct cli_text *text, const trk_recommendation *recommendation, bool several)
{
    char words[CURVE_SIZE] = "";
    size_t len = 0;
    double cores, seconds;
    for (size_t i = 0; trk_recommendation_curve(recommendation, i, &cores, &seconds) == 0; i++) {
        char time[CLI_HUMAN_SIZE];
        int added = snprintf(words + len, sizeof words - len, "%s%.0f: %s", i ? ", " : "", cores,
                             cli_human_seconds(seconds, time));
        if (added < 0 || (size_t)added >= sizeof words - len)
            break;
        len += (size_t)added;
    }
    if (len == 0)
        return;
    cli_text_add(text, "\nTime against cores, at least%s:\n  ",
                 several ? " (a run on average)" : "");
    cli_text_add_wrapped(text, 2, words);
}

static void add_levels(struct cli_text *text, const trk_recommendation *recommendation,
                       const struct trk_recommend_basis *basis, enum trk_level explained)
{
    struct trk_need need = {.size = sizeof need};
    cli_text_add(text, "  %-*s %5s %8s %10s %7s %5s %10s\n", LABEL_COLUMNS, "", "cores", "longer",
                 "memory", "risk", "GPUs", "VRAM each");
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        trk_recommendation_need(recommendation, (enum trk_level)i, &need);
        add_level(text, level_names[i], &need);
    }
    add_classic(text, basis);
    trk_recommendation_need(recommendation, explained, &need);
    cli_text_add(text, "\nWhy, for %s:\n", level_names[explained]);
    add_reason(text, "cores", need.cpu_reason);
    add_reason(text, "memory", need.memory_reason);
    add_reason(text, "GPUs", need.gpu_reason);
    add_curve(text, recommendation, basis->runs_used > 1);
    cli_text_add(text, "\nReady to paste: resource-tracker recommend --paste slurm (--help lists "
                       "forms)\n");
}

static void add_peaks(struct cli_text *text, const struct trk_recommend_basis *basis)
{
    char memory[CLI_HUMAN_SIZE], cores[CLI_HUMAN_SIZE], vram[CLI_HUMAN_SIZE];
    cli_text_add(text, "  %-*s %s\n", LABEL_COLUMNS, "memory",
                 cli_human_bytes(basis->memory_peak_bytes, memory));
    cli_text_add(text, "  %-*s %s\n", LABEL_COLUMNS, "cores",
                 isnan(basis->cpu_peak_cores) ? "not measured"
                                              : cli_human_number(basis->cpu_peak_cores, cores));
    if (basis->vram_peak_bytes > 0)
        cli_text_add(text, "  %-*s %s\n", LABEL_COLUMNS, "VRAM",
                     cli_human_bytes(basis->vram_peak_bytes, vram));
}

static int print_table(const trk_recommendation *recommendation, const struct cli_options *options,
                       const struct cli_rent *rent)
{
    trk_rent *servers = NULL;
    struct trk_error error = {0};
    struct cli_text text = {0};
    struct trk_recommend_basis basis = {.size = sizeof basis};
    trk_recommendation_basis(recommendation, &basis);
    /* First, because a wrong filter is an error and no half of an answer. */
    int code =
        trk_recommendation_rent(recommendation, options->level, &rent->options, &servers, &error);
    if (code == -ENODATA) {
        cli_text_add_wrapped(&text, 0, trk_recommendation_refusal(recommendation));
        add_peaks(&text, &basis);
        return print_text(text.data);
    }
    if (code < 0)
        return cli_rent_fail(rent, &error);
    cli_text_add(&text, "From %u run%s", basis.runs_used, basis.runs_used == 1 ? "" : "s");
    if (basis.runs > basis.runs_used)
        cli_text_add(&text, " (%u more too short)", basis.runs - basis.runs_used);
    if (basis.runs_censored > 0)
        cli_text_add(&text, ", %u at a memory limit", basis.runs_censored);
    cli_text_add(&text, ":\n");
    add_levels(&text, recommendation, &basis, options->level);
    int status = print_text(text.data);
    if (status == 0)
        cli_rent_print(servers, options->spot);
    trk_rent_free(servers);
    return status ? status : print_text("");
}

int cli_cmd_recommend(const struct cli_options *options)
{
    struct trk_recommend_options wishes = options->recommend;
    wishes.key = options->key;
    if (options->alone)
        wishes.history = 1;
    size_t count = 0;
    while (options->operands && options->operands[count])
        count++;
    trk_recommendation *recommendation;
    struct trk_error error = {0};
    struct cli_rent rent;
    if (cli_rent_init(&rent, options) < 0)
        return cli_misuse("too many filters, or too long ones");
    if (trk_recommend_runs((const char *const *)options->operands, count, &wishes, &recommendation,
                           &error) < 0)
        return cli_fail("%s", error.message);
    int status = options->json                      ? print_json(recommendation, options, &rent)
                 : options->paste != CLI_PASTE_NONE ? print_paste(recommendation, options, &rent)
                                                    : print_table(recommendation, options, &rent);
    trk_recommendation_free(recommendation);
    return status;
}
