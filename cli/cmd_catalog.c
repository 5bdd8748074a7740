#include "cli.h"
#include "human.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_sources(const char *json)
{
    for (int i = 0;; i++) {
        char path[48];
        snprintf(path, sizeof path, "sources.%d.name", i);
        char *name = trk_json_text(json, path);
        if (!name)
            return;
        snprintf(path, sizeof path, "sources.%d.date", i);
        char *date = trk_json_text(json, path);
        snprintf(path, sizeof path, "sources.%d.licence", i);
        char *licence = trk_json_text(json, path);
        snprintf(path, sizeof path, "sources.%d.url", i);
        char *url = trk_json_text(json, path);
        printf("  %-11s %s, %s\n  %-11s %s\n", date ? date : "", name, licence ? licence : "", "",
               url ? url : "");
        trk_free(url);
        trk_free(licence);
        trk_free(date);
        trk_free(name);
    }
}

static int print_table(const char *json)
{
    char *date = trk_json_text(json, "date"), *servers = trk_json_text(json, "servers");
    char *path = trk_json_text(json, "path"), *bytes = trk_json_text(json, "packed_bytes");
    char *licence = trk_json_text(json, "licence");
    char size[CLI_HUMAN_SIZE];
    bool is_own = path && strcmp(path, "null") != 0;
    printf("Price table of %s: %s servers, %s in the program%s%s\n", date, servers,
           cli_human_bytes(bytes ? strtod(bytes, NULL) : 0, size), is_own ? "; in use: " : "",
           is_own ? path : "");
    print_sources(json);
    printf("Re-arranged; the table is licensed under %s. resource-tracker catalog update fetches a "
           "newer one.\n",
           licence);
    trk_free(licence);
    trk_free(bytes);
    trk_free(path);
    trk_free(servers);
    trk_free(date);
    return 0;
}

static int show(const struct cli_options *options)
{
    char *json;
    struct trk_error error = {0};
    if (trk_catalog_info(&json, &error) < 0)
        return cli_fail("%s", error.message);
    char *warning = trk_json_text(json, "warning");
    if (warning)
        fprintf(stderr, "resource-tracker: %s\n", warning);
    trk_free(warning);
    if (options->json)
        printf("%s\n", json);
    else
        print_table(json);
    trk_free(json);
    return cli_finish_stdout(0);
}

int cli_cmd_catalog(const struct cli_options *options)
{
    struct trk_error error = {0};
    const char *word = options->operands ? options->operands[0] : NULL;
    if (word && (strcmp(word, "update") != 0 || options->operands[1]))
        return cli_misuse("catalog: '%s' is one word too many; see resource-tracker catalog --help",
                          strcmp(word, "update") != 0 ? word : options->operands[1]);
    if (word && trk_catalog_update(NULL, &error) < 0)
        return cli_fail("the price table stays as it is: %s", error.message);
    return show(options);
}
