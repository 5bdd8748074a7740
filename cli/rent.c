#include "rent.h"

#include "human.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 200, NAME_COLUMNS = 22, NAME_COLUMNS_MOST = 40 };

/* ---- the wishes ---------------------------------------------------------------------- */

struct pen {
    struct cli_rent *rent;
    size_t filters, len;
    bool is_full;
};

static void add_filter(struct pen *pen, const char *name, const char *value, size_t value_len)
{
    char *to = pen->rent->words + pen->len;
    size_t room = sizeof pen->rent->words - pen->len;
    int len = snprintf(to, room, "%s%s%.*s", name, *name ? "=" : "", (int)value_len, value);
    if (pen->filters == CLI_FILTERS_MAX || len < 0 || (size_t)len >= room) {
        pen->is_full = true;
        return;
    }
    pen->rent->filters[pen->filters++] = to;
    pen->len += (size_t)len + 1;
}

int cli_rent_init(struct cli_rent *rent, const struct cli_options *options)
{
    *rent = (struct cli_rent){0};
    trk_server_options_init(&rent->options);
    const struct {
        const char *name, *value;
    } wishes[] = {{"vendor_id", options->filter_vendor},
                  {"region", options->filter_region},
                  {"architecture", options->filter_arch},
                  {"cpu_allocation", options->dedicated ? "dedicated" : NULL},
                  {"gpu_model", options->filter_gpu_model}};
    struct pen pen = {.rent = rent};
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        if (wishes[i].value)
            add_filter(&pen, wishes[i].name, wishes[i].value, strlen(wishes[i].value));
    for (const char *at = options->filter; at && *at;) {
        size_t len = strcspn(at, ";");
        add_filter(&pen, "", at, len);
        at += len + (at[len] == ';');
    }
    rent->options.filters = rent->filters;
    rent->options.count = (size_t)options->servers;
    rent->options.spot = options->spot;
    rent->options.online = options->online;
    return pen.is_full ? -EINVAL : 0;
}

void cli_rent_warn(const char *json)
{
    char *warning = trk_json_text(json, "warning");
    if (warning && *warning && strcmp(warning, "null") != 0)
        fprintf(stderr, "resource-tracker: %s\n", warning);
    trk_free(warning);
}

int cli_rent_fail(const struct cli_rent *rent, const struct trk_error *error)
{
    bool may_be_online = error->code == -ENOTSUP || error->code == -ENOENT;
    return cli_fail("%s%s", error->message,
                    may_be_online && !rent->options.online
                        ? "; --online asks Spare Cores, which may know more"
                        : "");
}

/* ---- the answer ---------------------------------------------------------------------- */

/* "servers.2.price" of the list's row; "" where it is not known. The caller gives the room. */
static const char *cell(const char *json, const char *list, int row, const char *key,
                        char ret_text[64])
{
    char path[96];
    snprintf(path, sizeof path, "%s.%d.%s", list, row, key);
    char *value = trk_json_text(json, path);
    snprintf(ret_text, 64, "%s", value && strcmp(value, "null") != 0 ? value : "");
    cli_text_make_printable(ret_text);
    trk_free(value);
    return ret_text;
}

static double number(const char *json, const char *list, int row, const char *key)
{
    char text[64];
    cell(json, list, row, key, text);
    return *text ? strtod(text, NULL) : NAN;
}

static double figure(const char *json, const char *path)
{
    char *value = trk_json_text(json, path);
    double result = value && *value && strcmp(value, "null") != 0 ? strtod(value, NULL) : NAN;
    trk_free(value);
    return result;
}

static char *word(const char *json, const char *path, char ret_text[64])
{
    char *value = trk_json_text(json, path);
    snprintf(ret_text, 64, "%s", value && strcmp(value, "null") != 0 ? value : "");
    cli_text_make_printable(ret_text);
    trk_free(value);
    return ret_text;
}

/* Small sums keep their digits: a run of a second costs millionths. */
static const char *dollars(double usd, char text[CLI_HUMAN_SIZE])
{
    if (isnan(usd))
        return "-";
    snprintf(text, CLI_HUMAN_SIZE, usd >= 1 ? "$%.2f" : usd >= 0.01 ? "$%.4f" : "$%.6f", usd);
    return text;
}

/* "aws m5.large" of the list's row, "hcloud cax11 (arm64)" where a program for x86_64 does not run; "" behind its end. */
static const char *server_name(const char *json, const char *list, int row,
                               char ret_name[NAME_SIZE])
{
    char vendor[64], server[64], processor[64];
    cell(json, list, row, "vendor_id", vendor);
    if (!*cell(json, list, row, "api_reference", server))
        cell(json, list, row, "server_id", server);
    cell(json, list, row, "cpu_architecture", processor);
    bool is_usual = !*processor || strcmp(processor, "x86_64") == 0;
    snprintf(ret_name, NAME_SIZE, "%s%s%s%s%s%s", vendor, *vendor ? " " : "", server,
             is_usual ? "" : " (", is_usual ? "" : processor, is_usual ? "" : ")");
    return ret_name;
}

/* As wide as the longest name, so that the figures stand below each other. */
static int name_columns(const char *json, const char *list)
{
    char name[NAME_SIZE];
    size_t widest = NAME_COLUMNS;
    for (int row = 0; *server_name(json, list, row, name); row++)
        if (cli_text_columns(name) > widest)
            widest = cli_text_columns(name);
    return widest < NAME_COLUMNS_MOST ? (int)widest : NAME_COLUMNS_MOST;
}

/* Lists may be long: what is there goes out before it would be cut off. */
static void flush(struct cli_text *text)
{
    fputs(text->data, stdout);
    *text = (struct cli_text){0};
}

static void add_server(struct cli_text *text, const char *json, int row, int columns, bool spot)
{
    char a[64], b[64], region[64], name[NAME_SIZE], memory[CLI_HUMAN_SIZE], price[CLI_HUMAN_SIZE],
        spot_price[CLI_HUMAN_SIZE], cost[CLI_HUMAN_SIZE], saved[CLI_HUMAN_SIZE] = "-";
    double percent =
        number(json, "servers", row, spot ? "cost_savings_spot.percent" : "cost_savings.percent");
    cell(json, "servers", row, spot ? "spot_region" : "region", region);
    if (!isnan(percent))
        snprintf(saved, sizeof saved, "%.2f %%", percent);
    cli_text_add(text, "  %-*s %4s %8s %4s %9s %9s %9s %8s  %s\n", columns,
                 server_name(json, "servers", row, name), cell(json, "servers", row, "vcpus", a),
                 cli_human_bytes(number(json, "servers", row, "memory_amount") * 1048576, memory),
                 cell(json, "servers", row, "gpu_count", b),
                 dollars(number(json, "servers", row, "min_price_ondemand"), price),
                 dollars(number(json, "servers", row, "min_price_spot"), spot_price),
                 dollars(number(json, "servers", row,
                                spot ? "best_spot_price_duration" : "best_ondemand_price_duration"),
                         cost),
                 saved, *region ? region : "-");
}

static void add_servers(struct cli_text *text, const char *json, bool spot)
{
    char a[64], b[64];
    bool is_online = strcmp(word(json, "source", a), "keeper") == 0;
    cli_text_add(text, "\nCheapest servers that fit (%s%s of %s):\n", spot ? "by spot price, " : "",
                 is_online ? "Spare Cores Keeper" : "price table", word(json, "date", b));
    if (!*cell(json, "servers", 0, "vendor_id", a)) {
        cli_text_add(text, "  none\n");
        return;
    }
    int columns = name_columns(json, "servers");
    cli_text_add(text, "  %-*s %4s %8s %4s %9s %9s %9s %8s  %s\n", columns, "", "CPUs", "memory",
                 "GPUs", "an hour", "spot", "this run", "saves", spot ? "spot in" : "in region");
    for (int row = 0; *cell(json, "servers", row, "vendor_id", a); row++) {
        add_server(text, json, row, columns, spot);
        flush(text);
    }
}

static void add_finish(struct cli_text *text, const char *json, bool spot)
{
    char a[64], b[64], name[NAME_SIZE], time[CLI_HUMAN_SIZE], price[CLI_HUMAN_SIZE],
        cost[CLI_HUMAN_SIZE];
    if (!*cell(json, "finish", 0, "vendor_id", a))
        return;
    int columns = name_columns(json, "finish");
    cli_text_add(text, "\nCheapest to finish on, by cores (%stime and cost at least):\n",
                 spot ? "by spot price, " : "");
    cli_text_add(text, "  %-*s %4s %10s %9s %9s\n", columns, "", "CPUs", "time", "an hour",
                 "costs");
    for (int row = 0; *server_name(json, "finish", row, name); row++) {
        bool is_cheapest = strcmp(cell(json, "finish", row, "cheapest", a), "true") == 0;
        cli_text_add(text, "  %-*s %4s %10s %9s %9s%s\n", columns, name,
                     cell(json, "finish", row, "vcpus", b),
                     cli_human_seconds(number(json, "finish", row, "seconds"), time),
                     dollars(number(json, "finish", row, "price"), price),
                     dollars(number(json, "finish", row, "cost"), cost),
                     is_cheapest ? "  cheapest" : "");
        flush(text);
    }
}

static void add_run(struct cli_text *text, const char *json)
{
    char vendor[64], server[64], region[64], priced[64], date[64], inferred[64], same[64],
        cost[CLI_HUMAN_SIZE], price[CLI_HUMAN_SIZE], line[640];
    double costs = figure(json, "run.run_costs");
    if (isnan(costs))
        return;
    bool is_inferred = strcmp(word(json, "run.server_id_inferred", inferred), "true") == 0;
    bool is_same = strcmp(word(json, "run.price_is_of_region", same), "true") == 0;
    word(json, "run.region", region);
    word(json, "run.price_region", priced);
    snprintf(line, sizeof line, "The last run cost %s on %s %s%s%s%s: %s an hour%s%s%s (%s).",
             dollars(costs, cost), word(json, "run.vendor_id", vendor),
             word(json, "run.server_id", server), is_inferred ? " (by its size)" : "",
             *region ? " in " : "", region, dollars(figure(json, "run.price"), price),
             is_same ? "" : ", the price of ",
             is_same   ? ""
             : *priced ? priced
                       : "its cheapest region",
             is_same ? "" : ", since none of its region is known", word(json, "run.date", date));
    cli_text_add(text, "\n");
    cli_text_add_wrapped(text, 0, line);
}

void cli_rent_print(const char *json, bool spot)
{
    struct cli_text text = {0};
    cli_rent_warn(json);
    add_servers(&text, json, spot);
    add_finish(&text, json, spot);
    add_run(&text, json);
    if (figure(json, "needs.memory") <= 0)
        cli_text_add(&text, "\nMemory was not measured: these servers fit by their cores alone.\n");
    char *note = trk_json_text(json, "note"), *credit = trk_json_text(json, "credit");
    cli_text_add(&text, "\n");
    if (note && *note && strcmp(note, "null") != 0)
        cli_text_add_wrapped(&text, 0, note);
    if (credit && strcmp(credit, "null") != 0)
        cli_text_add_wrapped(&text, 0, credit);
    flush(&text);
    trk_free(credit);
    trk_free(note);
}
