/* The price table: what is packed into the program against the tables of data/, read here in another way. */
#include "check.h"

#include "advise/cost.h"
#include "advise/rent.h"
#include "base/json_path.h"
#include "catalog/keeper.h"
#include "catalog/search.h"

#include <errno.h>
#include <stdlib.h>

enum { ROWS_MAX = 6000, REGIONS_MAX = 80, CELLS_MAX = 80, LINE_SIZE = 4096, SHOWN = 3 };

/* ---- the tables, by strtod and arrays ------------------------------------------------ */

struct row {
    char cell[14][72];
    double vcpus, memory, gpus, vram, ondemand, spot;
    double region[2][REGIONS_MAX]; /* ondemand, spot; of the vendor's regions */
};

struct vendor_regions {
    const char *vendor;
    char name[REGIONS_MAX][40];
    int count;
};

static struct row rows[ROWS_MAX];
static int row_count;
static struct vendor_regions regions[3] = {
    {.vendor = "aws"}, {.vendor = "azure"}, {.vendor = "gcp"}};

static int split(char *line, char *cell[CELLS_MAX])
{
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < CELLS_MAX; count++)
        cell[count] = strsep(&at, ",");
    return count;
}

static double number(const char *text)
{
    return *text ? strtod(text, NULL) : NAN;
}

static FILE *open_table(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/../data/%s.csv", TRK_TESTS, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void read_servers(void)
{
    char line[LINE_SIZE], *cell[CELLS_MAX];
    FILE *file = open_table("servers");
    CHECK(fgets(line, sizeof line, file) != NULL);
    while (fgets(line, sizeof line, file) && row_count < ROWS_MAX) {
        struct row *row = &rows[row_count++];
        CHECK(split(line, cell) == 14);
        for (int i = 0; i < 14; i++)
            snprintf(row->cell[i], sizeof row->cell[i], "%s", cell[i]);
        row->vcpus = number(cell[2]);
        row->memory = number(cell[3]);
        row->gpus = number(cell[4]);
        row->vram = number(cell[6]);
        row->ondemand = number(cell[9]);
        row->spot = number(cell[11]);
        for (int i = 0; i < REGIONS_MAX; i++)
            row->region[0][i] = row->region[1][i] = NAN;
    }
    fclose(file);
}

static struct row *find_row(const char *vendor, const char *name)
{
    for (int i = 0; i < row_count; i++)
        if (strcmp(rows[i].cell[1], name) == 0 && strcmp(rows[i].cell[0], vendor) == 0)
            return &rows[i];
    return NULL;
}

static void read_prices(struct vendor_regions *of, int kind)
{
    char line[LINE_SIZE], table[64], *cell[CELLS_MAX];
    snprintf(table, sizeof table, "prices_%s_%s", of->vendor, kind ? "spot" : "ondemand");
    FILE *file = open_table(table);
    CHECK(fgets(line, sizeof line, file) != NULL);
    int columns = split(line, cell);
    for (int i = 1; i < columns; i++)
        snprintf(of->name[i - 1], sizeof of->name[0], "%s", cell[i]);
    of->count = columns - 1;
    while (fgets(line, sizeof line, file)) {
        int found = split(line, cell);
        struct row *row = find_row(of->vendor, cell[0]);
        for (int i = 1; row && i < found; i++)
            row->region[kind][i - 1] = number(cell[i]);
    }
    fclose(file);
}

/* ---- a scan of all of them ----------------------------------------------------------- */

static const struct vendor_regions *regions_of(const char *vendor)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(regions[i].vendor, vendor) == 0)
            return &regions[i];
    return NULL;
}

static double price_of(const struct row *row, const struct trk_server_query *query)
{
    if (!query->region.count)
        return query->spot ? row->spot : row->ondemand;
    double least = NAN;
    const struct vendor_regions *of = regions_of(row->cell[0]);
    for (int i = 0; of && i < of->count; i++)
        for (unsigned r = 0; r < query->region.count; r++)
            if (strcmp(of->name[i], query->region.value[r]) == 0)
                least = fmin(least, row->region[query->spot][i]);
    return least;
}

static bool any_of(const struct trk_filter_list *list, const char *text)
{
    bool found = !list->count;
    for (unsigned i = 0; i < list->count; i++)
        found |= strcmp(list->value[i], text) == 0;
    return found;
}

static bool fits(const struct row *row, const struct trk_server_query *query)
{
    double devices = row->gpus > 0 && row->gpus < 1 ? 1 : row->gpus;
    bool has_memory =
        query->memory_mib <= 0 || row->memory - 0.02 * row->memory - 200 >= query->memory_mib;
    return row->vcpus >= query->cpu_cores && has_memory && row->gpus >= query->gpu_devices &&
           row->vram >= query->vram_mib && devices * row->vram >= query->vram_total_mib &&
           any_of(&query->vendor, row->cell[0]) && any_of(&query->gpu_model, row->cell[5]) &&
           any_of(&query->architecture, row->cell[7]) &&
           any_of(&query->cpu_allocation, row->cell[8]);
}

/* By price; of equal prices the first row comes first. */
static int cheapest(const struct trk_server_query *query, const struct row *ret_best[SHOWN])
{
    double price[SHOWN + 1];
    const struct row *best[SHOWN + 1];
    int count = 0;
    for (int i = 0; i < row_count; i++) {
        double own = fits(&rows[i], query) ? price_of(&rows[i], query) : NAN;
        if (isnan(own))
            continue;
        int at = count;
        for (; at > 0 && own < price[at - 1]; at--) {
            price[at] = price[at - 1];
            best[at] = best[at - 1];
        }
        price[at] = own;
        best[at] = &rows[i];
        count += count < SHOWN;
    }
    memcpy(ret_best, best, (size_t)count * sizeof *best);
    return count;
}

/* For a check alone: it lives until the next call. */
static const char *text_at(const char *json, const char *path)
{
    static char held[1024];
    char *text = trk__json_text_at(json, path);
    snprintf(held, sizeof held, "%s", text ? text : "(nothing)");
    free(text);
    return held;
}

/* ---- random needs -------------------------------------------------------------------- */

static uint64_t state = 20260815;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void add(struct trk_filter_list *list, const char *value)
{
    snprintf(list->value[list->count++], TRK_FILTER_TEXT_SIZE, "%s", value);
}

static void random_needs(struct trk_server_query *query)
{
    static const double fractions[] = {0, 0.0833, 0.125, 0.25, 0.5, 0.9, 1, 1.5};
    query->cpu_cores = (double)draw(1u << draw(9)) + fractions[draw(8)];
    query->memory_mib = (double)draw(1u << draw(22)) + (double)draw(1000) / 1000;
    if (draw(3) == 0) {
        query->gpu_devices = draw(2) ? fractions[draw(8)] : (double)draw(9);
        query->vram_mib = draw(2) ? (double)draw(90000) : 0;
        query->vram_total_mib = draw(4) ? 0 : (double)draw(400000);
    }
}

static void random_filters(struct trk_server_query *query)
{
    const struct row *some = &rows[draw((uint64_t)row_count)];
    query->spot = draw(5) == 0;
    if (draw(3) == 0)
        add(&query->vendor, some->cell[0]);
    if (query->vendor.count && draw(3) == 0)
        add(&query->vendor, rows[draw((uint64_t)row_count)].cell[0]);
    if (draw(4) == 0)
        add(&query->architecture, some->cell[7]);
    if (draw(4) == 0)
        add(&query->cpu_allocation, draw(2) ? "dedicated" : some->cell[8]);
    if (query->gpu_devices > 0 && draw(3) == 0 && *some->cell[5])
        add(&query->gpu_model, some->cell[5]);
    if (draw(50) == 0) { /* they take by far the most time */
        const struct vendor_regions *of = &regions[draw(3)];
        add(&query->region, of->name[draw((uint64_t)of->count)]);
        if (draw(2))
            add(&query->region, of->name[draw((uint64_t)of->count)]);
    }
}

static struct trk_catalog *catalog;

static void test_ten_thousand_needs(void)
{
    int answered = 0, by_region = 0, by_spot = 0, by_gpu = 0;
    for (int n = 0; n < 10000 && !check_failed(); n++) {
        struct trk_server_query query = {0};
        struct trk_server_match match[SHOWN];
        random_needs(&query);
        random_filters(&query);
        int count = trk__catalog_search(catalog, &query, match, SHOWN);
        const struct row *expected[SHOWN];
        REQUIRE(count == cheapest(&query, expected));
        for (int i = 0; i < count; i++) {
            CHECK_TEXT(match[i].server->vendor, expected[i]->cell[0]);
            CHECK_TEXT(match[i].server->name, expected[i]->cell[1]);
            CHECK(price_of(expected[i], &query) ==
                  (query.spot ? match[i].spot_usd : match[i].ondemand_usd));
        }
        answered += count > 0;
        by_region += count > 0 && query.region.count;
        by_spot += count > 0 && query.spot;
        by_gpu += count > 0 && query.gpu_devices > 0;
    }
    /* That the needs were not such that nothing is ever found. */
    CHECK(answered > 4000 && by_region > 100 && by_spot > 200 && by_gpu > 200);
}

static void test_all_of_it_is_packed(void)
{
    CHECK_U64(catalog->servers, (uint64_t)row_count);
    for (size_t i = 0; i < catalog->servers && !check_failed(); i++) {
        const struct trk_catalog_server *server = &catalog->server[i];
        CHECK_TEXT(server->name, rows[i].cell[1]);
        CHECK(server->vcpus == rows[i].vcpus && server->memory_mib == rows[i].memory);
        CHECK(server->gpu_count == rows[i].gpus && server->gpu_memory_mib == rows[i].vram);
        CHECK(server->ondemand_usd == rows[i].ondemand);
        CHECK_TEXT(server->source, rows[i].cell[13]);
    }
}

/* ---- figures by hand ----------------------------------------------------------------- */

static double price(const char *vendor, const char *server, const char *region, bool spot,
                    const char *expected_region, bool is_asked)
{
    struct trk_price found;
    if (!trk__catalog_price(catalog, vendor, server, region, spot, &found))
        return NAN;
    CHECK_TEXT(found.region, expected_region);
    CHECK(found.is_asked_region == is_asked);
    return found.usd_hour;
}

static void test_known_prices(void)
{
    CHECK_NEAR(price("aws", "m5.xlarge", "us-east-1", false, "us-east-1", true), 0.192, 0);
    CHECK_NEAR(price("aws", "m5.xlarge", "eu-west-3", false, "us-east-1", false), 0.192, 0);
    CHECK_NEAR(price("aws", "p3.2xlarge", "us-east-1", false, "us-east-1", true), 3.06, 0);
    CHECK_NEAR(price("azure", "Standard_D2s_v5", "westeurope", false, "westeurope", true), 0.115,
               0);
    CHECK_NEAR(price("gcp", "n2-standard-8", "europe-west4", false, "europe-west4", true), 0.427664,
               0);
    /* The first of the regions that has one. */
    CHECK_NEAR(price("gcp", "n2-standard-8", NULL, false, "africa-south1", false), 0.427336, 0);
    CHECK_NEAR(price("gcp", "n2-standard-8", "us-central1", true, "us-central1", true), 0.18424, 0);
    CHECK_NEAR(price("hcloud", "cx23", "fsn1", false, "", false), 0.010282, 0);
    CHECK(isnan(price("aws", "m5.nonsense", "us-east-1", false, "", false)));
    CHECK(isnan(price("nobody", "m5.xlarge", "us-east-1", false, "", false)));
}

static void test_costs(void)
{
    CHECK_NEAR(trk__run_cost_usd(0.192, 3600), 0.192, 1e-15);
    CHECK_NEAR(trk__run_cost_usd(0.192, 61), 0.0032533333333, 1e-12);
    CHECK_NEAR(trk__round_millionths(0.0032533333333), 0.003253, 0);
    CHECK_NEAR(trk__round_millionths(-0.0000015), -0.000002, 0);
    struct trk_savings savings = trk__savings(0.003253, 0.192 / 4 / 3600 * 61);
    CHECK_NEAR(savings.percent, 75, 0); /* 0.0008133 of 0.003253 */
    CHECK_NEAR(savings.amount_usd, 0.00244, 0);
    savings = trk__savings(0.001, 0.0015);
    CHECK_NEAR(savings.percent, -50, 0);
    CHECK_NEAR(savings.amount_usd, -0.0005, 0);
    CHECK(isnan(trk__savings(0, 1).percent) && isnan(trk__savings(NAN, 1).percent));
}

static void test_usable_memory(void)
{
    CHECK_NEAR(trk__usable_memory_mib(10000), 9600, 1e-9);
    struct trk_catalog_server server = {.vcpus = 1, .memory_mib = 10000};
    struct trk_server_query query = {.cpu_cores = 1, .memory_mib = 9600};
    CHECK(trk__server_fits(&server, &query));
    query.memory_mib = 9600.001;
    CHECK(!trk__server_fits(&server, &query));
    query = (struct trk_server_query){.cpu_cores = 1.001};
    CHECK(!trk__server_fits(&server, &query));
}

static void test_curve(void)
{
    const struct trk_curve_point curve[] = {{1, 100}, {2, 60}, {4, 50}};
    CHECK_NEAR(trk__curve_seconds(curve, 3, 1), 100, 0);
    CHECK_NEAR(trk__curve_seconds(curve, 3, 2), 60, 0);
    CHECK_NEAR(trk__curve_seconds(curve, 3, 3), 50 + 10.0 / 3, 1e-9); /* linear in 1 / cores */
    CHECK_NEAR(trk__curve_seconds(curve, 3, 64), 50, 0);
    CHECK_NEAR(trk__curve_seconds(curve, 3, 0.5), 200, 1e-9);
    CHECK(isnan(trk__curve_seconds(curve, 0, 1)));
}

/* A machine that is dearer by the hour and ends sooner wins. */
static void test_cheapest_to_finish(void)
{
    const struct trk_catalog_server one = {.vendor = "a", .name = "slow", .vcpus = 1},
                                    four = {.vendor = "a", .name = "fast", .vcpus = 4},
                                    big = {.vendor = "b", .name = "big", .vcpus = 16};
    const struct trk_server_match match[] = {{&one, 0.05, NAN, "", "", ""},
                                             {&four, 0.15, NAN, "", "", ""},
                                             {&big, 0.60, NAN, "", "", ""}};
    const struct trk_curve_point curve[] = {{1, 4000}, {2, 2000}, {4, 1000}, {8, 900}};
    struct trk_list list = {0};
    REQUIRE(trk__finish_find(catalog, match, 3, false, curve, 4, &list) == 0);
    REQUIRE_U64(list.count, 3);
    const struct trk_finish *finish = list.item;
    CHECK_TEXT(finish[0].server, "slow");
    CHECK_NEAR(finish[0].cost_usd, 0.055556, 0); /* 0.05 x 4000 / 3600 */
    CHECK_NEAR(finish[1].cost_usd, 0.041667, 0); /* 0.15 x 1000 / 3600 */
    CHECK_NEAR(finish[2].cost_usd, 0.15, 0);     /* 0.60 x  900 / 3600 */
    CHECK(!finish[0].is_cheapest && finish[1].is_cheapest);
    trk__list_done(&trk__finish_fields, &list);
}

/* ---- the whole answer ---------------------------------------------------------------- */

static char *answer_to(const struct trk_server_options *options)
{
    char *json = NULL;
    struct trk_error error = {0};
    int code = trk_recommend_servers(options, &json, &error);
    if (code < 0)
        check_note("%s", error.message);
    REQUIRE(code == 0);
    return json;
}

static void test_answer(void)
{
    static const char *const filters[] = {"vendor_id=aws", "architecture=amd64", NULL};
    struct trk_server_options options;
    trk_server_options_init(&options);
    options.cpu_cores = 4;
    options.memory_mib = 15000;
    options.filters = filters;
    options.run_seconds = 7200;
    options.cloud_info =
        "{\"vendor\":\"aws\",\"instance_type\":\"m5.4xlarge\",\"region\":\"us-east-1\"}";
    char *json = answer_to(&options);
    double usd = trk__json_number_at(json, "servers.0.min_price_ondemand");
    CHECK_NEAR(trk__json_number_at(json, "run.run_costs"), 1.536, 0); /* 0.768 x 2 */
    CHECK_NEAR(trk__json_number_at(json, "servers.0.best_ondemand_price_duration"), 2 * usd, 1e-6);
    CHECK_NEAR(trk__json_number_at(json, "servers.0.cost_savings.amount"), 1.536 - 2 * usd, 1e-6);
    CHECK_NEAR(trk__json_number_at(json, "servers.0.cost_savings.percent"),
               round((1.536 - 2 * usd) / 1.536 * 1e4) / 100, 0.005);
    CHECK_TEXT(text_at(json, "servers.0.vendor_id"), "aws");
    CHECK_TEXT(text_at(json, "servers.0.cpu_architecture"), "x86_64");
    CHECK_TEXT(text_at(json, "servers.0.source"), "catalog");
    CHECK_TEXT(text_at(json, "servers.0.date"), "2026-07-20");
    CHECK(strstr(text_at(json, "credit"), "Spare Cores") != NULL);
    CHECK(strstr(text_at(json, "credit"), "CC BY-SA 4.0") != NULL);
    free(json);
}

static void check_filter(const char *filter, int expected, const char *message)
{
    const char *const filters[] = {filter, NULL};
    struct trk_server_options options;
    struct trk_error error = {0};
    char *json;
    trk_server_options_init(&options);
    options.filters = filters;
    CHECK(trk_recommend_servers(&options, &json, &error) == expected);
    if (!strstr(error.message, message))
        CHECK_TEXT(error.message, message);
}

static void test_filters_that_cannot_be_checked(void)
{
    check_filter("compliance_framework_id=hipaa", -ENOTSUP, "compliance_framework_id");
    check_filter("countries=DE", -ENOTSUP, "only by vendor, region");
    check_filter("region=fsn1", -ENOTSUP, "fsn1");
    check_filter("region=hcloud~us-east-1", -ENOTSUP, "us-east-1");
    check_filter("vendor_id=ibm", -ENOENT, "ibm");
    check_filter("vendor_id=", -EINVAL, "empty");
    check_filter("vendor_id", -EINVAL, "NAME=VALUE");
    check_filter("=aws", -EINVAL, "NAME=VALUE");
}

/* ---- Keeper -------------------------------------------------------------------------- */

static void test_keeper_question(void)
{
    struct trk_server_query query = {.cpu_cores = 1.5,
                                     .memory_mib = 5000.1,
                                     .gpu_devices = 1,
                                     .vram_mib = 16000,
                                     .vram_total_mib = 0};
    struct trk_buffer text;
    trk__query_add_filter(&query, "vendor_id=aws", NULL);
    trk__query_add_filter(&query, "region=us-east-1", NULL);
    trk__query_add_filter(&query, "compliance_framework_id=soc2 & more", NULL);
    trk__buffer_init(&text, 4096);
    REQUIRE(trk__keeper_query(&query, 25, 1, &text, NULL) == 0);
    CHECK_TEXT(
        text.data,
        "?vcpus_min=2&memory_min=4.88291015625&gpu_min=1&gpu_memory_min=15.625&vendor=aws&"
        "vendor_regions=aws~us-east-1&compliance_framework_id=soc2%20%26%20more&currency=USD&"
        "order_by=min_price_ondemand&order_dir=asc&limit=25&page=1");
    trk__buffer_clear(&text);
    query = (struct trk_server_query){.cpu_cores = 1000};
    REQUIRE(trk__keeper_query(&query, 1, 2, &text, NULL) == 0);
    CHECK(strncmp(text.data, "?vcpus_min=256&currency", 23) == 0);
    trk__buffer_clear(&text);
    trk__query_add_filter(&query, "vendor=gcp", NULL);
    trk__query_add_filter(&query, "region=us-central1", NULL);
    CHECK(trk__keeper_query(&query, 1, 1, &text, NULL) == -ENOTSUP);
    trk__buffer_done(&text);
}

static void test_keeper_answer(void)
{
    struct trk_keeper_answer answer;
    REQUIRE(
        trk__keeper_parse("[{\"vendor_id\":\"gcp\",\"server_id\":\"x\",\"api_reference\":"
                          "\"g2-standard-4\",\"vcpus\":4,\"memory_amount\":16384,\"gpu_count\":1,"
                          "\"gpu_memory_min\":24576,\"min_price_ondemand\":0.1,"
                          "\"min_price_spot\":null}]",
                          catalog, &answer) == 0);
    REQUIRE_U64(answer.count, 1);
    /* The GPU seems to be left out of 0.1: the table's price counts. */
    CHECK(answer.server[0].gpu_is_priced_by_catalog && answer.server[0].facts.ondemand_usd > 0.5);
    CHECK(isnan(answer.server[0].facts.spot_usd));
    trk__keeper_answer_done(&answer);
    static const char *const wrong[] = {"",     "{}",
                                        "[",    "[1]",
                                        "[{}]", "[{\"vendor_id\":\"a\"",
                                        "null", "[{\"vendor_id\":\"a\",\"server_id\":\"b\"}] x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(trk__keeper_parse(wrong[i], NULL, &answer) == -EBADMSG);
    REQUIRE(trk__keeper_parse(" [ ] ", NULL, &answer) == 0 && answer.count == 0);
    trk__keeper_answer_done(&answer);
}

static void test_keeper_prices(void)
{
    const char *json =
        "[{\"region_id\":\"2000\",\"allocation\":\"spot\",\"price\":0.1,\"unit\":\"hour\"},"
        "{\"region_id\":\"1000\",\"allocation\":\"ondemand\",\"price\":0.5,\"unit\":\"hour\","
        "\"operating_system\":\"linux\",\"currency\":\"USD\",\"region\":{\"name\":\"us-east1\"}},"
        "{\"region_id\":\"1001\",\"allocation\":\"ondemand\",\"price\":0.4,\"unit\":\"hour\","
        "\"region\":{\"api_reference\":\"us-west1\"}},"
        "{\"region_id\":\"1001\",\"allocation\":\"ondemand\",\"price\":9,\"unit\":\"month\"}]";
    double usd;
    char region[TRK_FILTER_TEXT_SIZE];
    bool is_asked;
    CHECK(trk__keeper_parse_prices(json, "us-west1", false, &usd, region, &is_asked) == 0);
    CHECK(usd == 0.4 && is_asked);
    CHECK(trk__keeper_parse_prices(json, "mars", false, &usd, region, &is_asked) == 0);
    CHECK(usd == 0.5 && !is_asked);
    CHECK_TEXT(region, "1000");
    CHECK(trk__keeper_parse_prices(json, NULL, true, &usd, region, &is_asked) == 0 && usd == 0.1);
    CHECK(trk__keeper_parse_prices("[]", "x", false, &usd, region, &is_asked) == -ENOENT);
    CHECK(trk__keeper_parse_prices("[{", "x", false, &usd, region, &is_asked) == -EBADMSG);
}

static void test_wrong_tables(void)
{
    static const char *const wrong[] = {
        "", "nonsense", "source,date,name,url,licence,regional_prices_of\n",
        "source,date,name,url,licence,regional_prices_of\na,2026,b,c,d,\n\nvendor,server\n"};
    struct trk_catalog *none;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(trk__catalog_parse(strdup(wrong[i]), strlen(wrong[i]), &none) == -EBADMSG);
}

int main(int argc, char *argv[])
{
    static const struct check_test tests[] = {
        TEST(test_all_of_it_is_packed),
        TEST(test_ten_thousand_needs),
        TEST(test_known_prices),
        TEST(test_costs),
        TEST(test_usable_memory),
        TEST(test_curve),
        TEST(test_cheapest_to_finish),
        TEST(test_answer),
        TEST(test_filters_that_cannot_be_checked),
        TEST(test_keeper_question),
        TEST(test_keeper_answer),
        TEST(test_keeper_prices),
        TEST(test_wrong_tables),
    };
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    read_servers();
    for (int i = 0; i < 3; i++)
        read_prices(&regions[i], 0);
    read_prices(&regions[2], 1);
    if (trk__catalog_open(&catalog, NULL) < 0)
        return 1;
    int code = CHECK_MAIN(argc, argv, tests);
    trk__catalog_free(catalog);
    return code;
}
