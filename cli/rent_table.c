#include "rent_table.h"

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

int cli_rent_fail(const struct cli_rent *rent, const struct trk_error *error)
{
    bool may_be_online = error->code == -ENOTSUP || error->code == -ENOENT;
    return cli_fail("%s%s", error->message,
                    may_be_online && !rent->options.online
                        ? "; --online asks Spare Cores, which may know more"
                        : "");
}

/* ---- the answer ---------------------------------------------------------------------- */

/* Small sums keep their digits: a run of a second costs millionths. */
static const char *dollars(double usd, char text[CLI_HUMAN_SIZE])
{
    if (isnan(usd))
        return "-";
    snprintf(text, CLI_HUMAN_SIZE, usd >= 1 ? "$%.2f" : usd >= 0.01 ? "$%.4f" : "$%.6f", usd);
    return text;
}

/* "aws m5.large", "hcloud cax11 (arm64)" where a program for x86_64 does not run. */
static const char *server_name(const char *vendor, const char *server, const char *architecture,
                               char ret_name[NAME_SIZE])
{
    bool is_usual = !*architecture || strcmp(architecture, "x86_64") == 0;
    snprintf(ret_name, NAME_SIZE, "%s%s%s%s%s%s", vendor, *vendor ? " " : "", server,
             is_usual ? "" : " (", is_usual ? "" : architecture, is_usual ? "" : ")");
    cli_text_make_printable(ret_name);
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

static void put_count(char cell[NAME_SIZE], double count)
{
    if (isnan(count))
        *cell = '\0';
    else
        snprintf(cell, NAME_SIZE, "%.10g", count);
}

static void fill_row(const struct trk_server_offer *server, struct server_row *row)
{
    char words[CLI_HUMAN_SIZE];
    server_name(server->vendor, server->server, server->architecture, row->cell[COLUMN_NAME]);
    put_count(row->cell[COLUMN_CPUS], server->vcpus);
    strcpy(row->cell[COLUMN_MEMORY], cli_human_bytes(server->memory_mib * 1048576, words));
    put_count(row->cell[COLUMN_GPUS], server->gpu_count);
    strcpy(row->cell[COLUMN_HOUR], dollars(server->ondemand_usd, words));
    strcpy(row->cell[COLUMN_SPOT], dollars(server->spot_usd, words));
    strcpy(row->cell[COLUMN_COST], dollars(server->run_cost_usd, words));
    strcpy(row->cell[COLUMN_SAVED], "-");
    if (!isnan(server->saved_percent))
        snprintf(row->cell[COLUMN_SAVED], NAME_SIZE, "%.2f %%", server->saved_percent);
    snprintf(row->cell[COLUMN_REGION], NAME_SIZE, "%s", *server->region ? server->region : "-");
    cli_text_make_printable(row->cell[COLUMN_REGION]);
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
static bool fill_table(struct server_table *table, const trk_rent *rent, bool spot)
{
    struct trk_server_offer offer = {.size = sizeof offer};
    if (!add_row(table))
        return false;
    fill_head(&table->row[0], spot);
    for (size_t i = 0; trk_rent_server(rent, i, spot, &offer) == 0; i++) {
        if (!add_row(table))
            return false;
        fill_row(&offer, &table->row[i + 1]);
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

static void add_servers(struct cli_text *text, const trk_rent *rent,
                        const struct trk_rent_info *info, bool spot)
{
    bool is_online = strcmp(info->source, "keeper") == 0;
    cli_text_add(text, "\nCheapest servers that fit (%s%s of %s):\n", spot ? "by spot price, " : "",
                 is_online ? "Spare Cores Keeper" : "price table", info->date);
    struct server_table table = {0};
    if (!fill_table(&table, rent, spot)) {
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
static int finish_name_columns(const trk_rent *rent)
{
    char name[NAME_SIZE];
    size_t widest = 0;
    struct trk_finish_offer offer = {.size = sizeof offer};
    for (size_t i = 0; trk_rent_finish(rent, i, &offer) == 0; i++) {
        size_t columns =
            cli_text_columns(server_name(offer.vendor, offer.server, offer.architecture, name));
        widest = columns > widest ? columns : widest;
    }
    return (int)widest;
}

static void add_finish(struct cli_text *text, const trk_rent *rent, bool spot)
{
    int columns = finish_name_columns(rent);
    if (columns == 0)
        return;
    cli_text_add(text, "\nCheapest to finish on, by cores (%stime and cost at least):\n",
                 spot ? "by spot price, " : "");
    cli_text_add(text, "  %-*s %4s %10s %9s %9s\n", columns, "", "CPUs", "time", "an hour",
                 "costs");
    struct trk_finish_offer offer = {.size = sizeof offer};
    for (size_t i = 0; trk_rent_finish(rent, i, &offer) == 0; i++) {
        char name[NAME_SIZE], time[CLI_HUMAN_SIZE], price[CLI_HUMAN_SIZE], cost[CLI_HUMAN_SIZE];
        cli_text_add(text, "  %-*s %4.10g %10s %9s %9s%s\n", columns,
                     server_name(offer.vendor, offer.server, offer.architecture, name), offer.vcpus,
                     cli_human_seconds(offer.seconds, time), dollars(offer.usd_hour, price),
                     dollars(offer.cost_usd, cost), offer.is_cheapest ? "  cheapest" : "");
        flush(text);
    }
}

static void add_run(struct cli_text *text, const struct trk_rent_info *info)
{
    char cost[CLI_HUMAN_SIZE], price[CLI_HUMAN_SIZE], line[640];
    bool is_same = info->run_price_is_of_region;
    if (isnan(info->run_cost_usd))
        return;
    snprintf(line, sizeof line, "The last run cost %s on %s %s%s%s%s: %s an hour%s%s%s (%s).",
             dollars(info->run_cost_usd, cost), info->run_vendor, info->run_server,
             info->run_server_is_inferred ? " (by its size)" : "", *info->run_region ? " in " : "",
             info->run_region, dollars(info->run_usd_hour, price), is_same ? "" : ", the price of ",
             is_same                   ? ""
             : *info->run_price_region ? info->run_price_region
                                       : "its cheapest region",
             is_same ? "" : ", since none of its region is known", info->run_price_date);
    cli_text_make_printable(line);
    cli_text_add(text, "\n");
    cli_text_add_wrapped(text, 0, line);
}

void cli_rent_print(const trk_rent *rent, bool spot)
{
    struct cli_text text = {0};
    struct trk_rent_info info = {.size = sizeof info};
    trk_rent_info(rent, &info);
    if (info.warning)
        fprintf(stderr, "resource-tracker: %s\n", info.warning);
    add_servers(&text, rent, &info, spot);
    add_finish(&text, rent, spot);
    add_run(&text, &info);
    if (info.memory_mib <= 0)
        cli_text_add(&text, "\nMemory was not measured: these servers fit by their cores alone.\n");
    cli_text_add(&text, "\n");
    if (info.note)
        cli_text_add_wrapped(&text, 0, info.note);
    if (info.credit)
        cli_text_add_wrapped(&text, 0, info.credit);
    flush(&text);
}
