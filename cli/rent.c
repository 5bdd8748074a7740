#include "rent.h"

#include "human.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 200 };

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

/* A list's row, which the caller frees; NULL behind its end. Asked for once, since each question reads the whole answer. */
static char *row_of(const char *json, const char *list, int index)
{
    char path[32];
    snprintf(path, sizeof path, "%s.%d", list, index);
    return trk_json_text(json, path);
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

/* "aws m5.large", "hcloud cax11 (arm64)" where a program for x86_64 does not run. */
static const char *server_name(const char *row, char ret_name[NAME_SIZE])
{
    char vendor[64], server[64], processor[64];
    word(row, "vendor_id", vendor);
    if (!*word(row, "api_reference", server))
        word(row, "server_id", server);
    word(row, "cpu_architecture", processor);
    bool is_usual = !*processor || strcmp(processor, "x86_64") == 0;
    snprintf(ret_name, NAME_SIZE, "%s%s%s%s%s%s", vendor, *vendor ? " " : "", server,
             is_usual ? "" : " (", is_usual ? "" : processor, is_usual ? "" : ")");
    return ret_name;
}

/* Lists may be long: what is there goes out before it would be cut off. */
static void flush(struct cli_text *text)
{
    fputs(text->data, stdout);
    *text = (struct cli_text){0};
}

/* ---- the cheapest servers: as many columns as the terminal is wide --------------------- */

enum column {
    COLUMN_NAME,
    COLUMN_CPUS,
    COLUMN_MEMORY,
    COLUMN_GPUS,
    COLUMN_HOUR,
    COLUMN_SPOT,
    COLUMN_COST,
    COLUMN_SAVED,
    COLUMN_REGION,
    COLUMN_COUNT
};

struct server_row {
    char cell[COLUMN_COUNT][NAME_SIZE];
};

struct server_table {
    struct server_row *row; /* the first is the head */
    size_t rows;
    bool is_hidden[COLUMN_COUNT];
};

static void fill_head(struct server_row *head, bool spot)
{
    static const char *const words[COLUMN_COUNT] = {
        "", "CPUs", "memory", "GPUs", "an hour", "spot", "this run", "saves", "in region"};
    for (int i = 0; i < COLUMN_COUNT; i++)
        snprintf(head->cell[i], NAME_SIZE, "%s", words[i]);
    if (spot)
        snprintf(head->cell[COLUMN_REGION], NAME_SIZE, "spot in");
}

static void fill_row(const char *server, bool spot, struct server_row *row)
{
    char text[64], words[CLI_HUMAN_SIZE];
    double percent = figure(server, spot ? "cost_savings_spot.percent" : "cost_savings.percent");
    double cost =
        figure(server, spot ? "best_spot_price_duration" : "best_ondemand_price_duration");
    server_name(server, row->cell[COLUMN_NAME]);
    strcpy(row->cell[COLUMN_CPUS], word(server, "vcpus", text));
    strcpy(row->cell[COLUMN_MEMORY],
           cli_human_bytes(figure(server, "memory_amount") * 1048576, words));
    strcpy(row->cell[COLUMN_GPUS], word(server, "gpu_count", text));
    strcpy(row->cell[COLUMN_HOUR], dollars(figure(server, "min_price_ondemand"), words));
    strcpy(row->cell[COLUMN_SPOT], dollars(figure(server, "min_price_spot"), words));
    strcpy(row->cell[COLUMN_COST], dollars(cost, words));
    strcpy(row->cell[COLUMN_SAVED], "-");
    if (!isnan(percent))
        snprintf(row->cell[COLUMN_SAVED], NAME_SIZE, "%.2f %%", percent);
    word(server, spot ? "spot_region" : "region", text);
    strcpy(row->cell[COLUMN_REGION], *text ? text : "-");
}

static bool add_row(struct server_table *table)
{
    struct server_row *grown = realloc(table->row, (table->rows + 1) * sizeof *grown);
    if (grown) {
        table->row = grown;
        table->rows++;
    }
    return grown;
}

/* False without memory. */
static bool fill_table(struct server_table *table, const char *json, bool spot)
{
    if (!add_row(table))
        return false;
    fill_head(&table->row[0], spot);
    char *server;
    for (int i = 0; (server = row_of(json, "servers", i)); i++) {
        bool has_room = add_row(table);
        if (has_room)
            fill_row(server, spot, &table->row[i + 1]);
        trk_free(server);
        if (!has_room)
            return false;
    }
    return true;
}

static size_t width_of(const struct server_table *table, int column)
{
    size_t widest = 0;
    for (size_t i = 0; i < table->rows; i++)
        if (cli_text_columns(table->row[i].cell[column]) > widest)
            widest = cli_text_columns(table->row[i].cell[column]);
    return widest;
}

static size_t width_of_all(const struct server_table *table)
{
    size_t width = 2; /* in front of the name, and before the region */
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (!table->is_hidden[i])
            width += width_of(table, i) + 1;
    return width;
}

static bool says_nothing(const struct server_table *table, int column)
{
    for (size_t i = 1; i < table->rows; i++)
        if (*table->row[i].cell[column] && strcmp(table->row[i].cell[column], "-") != 0 &&
            strcmp(table->row[i].cell[column], "0") != 0)
            return false;
    return true;
}

/* Whole columns go, since half a figure is a wrong one: first those that say nothing, then what is least asked for. All
 * of it is in --json. */
static void fit_table(struct server_table *table, bool spot, size_t width)
{
    const int order[] = {spot ? COLUMN_HOUR : COLUMN_SPOT, COLUMN_SAVED, COLUMN_GPUS,
                         COLUMN_REGION};
    enum { DROPS = sizeof order / sizeof *order };
    for (int i = 0; i < 2 * DROPS && width_of_all(table) > width; i++)
        if (i >= DROPS || says_nothing(table, order[i]))
            table->is_hidden[order[i % DROPS]] = true;
}

static void print_table(const struct server_table *table)
{
    struct cli_text text = {0};
    int width[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++)
        width[i] = (int)width_of(table, i);
    for (size_t row = 0; row < table->rows; row++) {
        cli_text_add(&text, "  %-*s", width[COLUMN_NAME], table->row[row].cell[COLUMN_NAME]);
        for (int i = COLUMN_NAME + 1; i < COLUMN_REGION; i++)
            if (!table->is_hidden[i])
                cli_text_add(&text, " %*s", width[i], table->row[row].cell[i]);
        if (!table->is_hidden[COLUMN_REGION])
            cli_text_add(&text, "  %s", table->row[row].cell[COLUMN_REGION]);
        cli_text_add(&text, "\n");
        flush(&text);
    }
}

static void add_servers(struct cli_text *text, const char *json, bool spot)
{
    char a[64], b[64];
    bool is_online = strcmp(word(json, "source", a), "keeper") == 0;
    cli_text_add(text, "\nCheapest servers that fit (%s%s of %s):\n", spot ? "by spot price, " : "",
                 is_online ? "Spare Cores Keeper" : "price table", word(json, "date", b));
    struct server_table table = {0};
    if (!fill_table(&table, json, spot)) {
        cli_text_add(text, "  no memory for the list\n");
    } else if (table.rows == 1) {
        cli_text_add(text, "  none\n");
    } else {
        flush(text);
        fit_table(&table, spot, cli_terminal_columns(STDOUT_FILENO));
        print_table(&table);
    }
    free(table.row);
}

/* ---- where to finish, and the whole ---------------------------------------------------- */

/* As wide as the longest name, so that the figures stand below each other; 0: there is none. */
static int finish_name_columns(const char *json)
{
    char name[NAME_SIZE], *row;
    size_t widest = 0;
    for (int i = 0; (row = row_of(json, "finish", i)); i++) {
        size_t columns = cli_text_columns(server_name(row, name));
        widest = columns > widest ? columns : widest;
        trk_free(row);
    }
    return (int)widest;
}

static void add_finish_row(struct cli_text *text, const char *row, int columns)
{
    char vcpus[64], cheapest[64], name[NAME_SIZE], time[CLI_HUMAN_SIZE], price[CLI_HUMAN_SIZE],
        cost[CLI_HUMAN_SIZE];
    bool is_cheapest = strcmp(word(row, "cheapest", cheapest), "true") == 0;
    cli_text_add(text, "  %-*s %4s %10s %9s %9s%s\n", columns, server_name(row, name),
                 word(row, "vcpus", vcpus), cli_human_seconds(figure(row, "seconds"), time),
                 dollars(figure(row, "price"), price), dollars(figure(row, "cost"), cost),
                 is_cheapest ? "  cheapest" : "");
    flush(text);
}

static void add_finish(struct cli_text *text, const char *json, bool spot)
{
    int columns = finish_name_columns(json);
    if (columns == 0)
        return;
    cli_text_add(text, "\nCheapest to finish on, by cores (%stime and cost at least):\n",
                 spot ? "by spot price, " : "");
    cli_text_add(text, "  %-*s %4s %10s %9s %9s\n", columns, "", "CPUs", "time", "an hour",
                 "costs");
    char *row;
    for (int i = 0; (row = row_of(json, "finish", i)); i++) {
        add_finish_row(text, row, columns);
        trk_free(row);
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
