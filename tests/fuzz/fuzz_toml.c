/* The configuration file: as TOML, where every item must be readable, and as options. */
#include "config.h"
#include "fuzz.h"
#include "toml.h"

static size_t touch(const char *text)
{
    return text ? strlen(text) : 0;
}

static int read_item(void *state, const struct cli_toml_item *item, struct cli_toml_error *error)
{
    size_t *total = state;
    (void)error;
    FUZZ_REQUIRE(item->key && item->line > 0 && item->item_count <= CLI_TOML_ARRAY_MAX);
    *total += touch(item->table) + touch(item->key) + touch(item->text);
    for (size_t i = 0; i < item->item_count; i++)
        *total += touch(item->items[i]);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    size_t total = 0;
    struct cli_toml_error refusal = {0};
    if (cli_toml_parse(text, len, read_item, &total, &refusal) < 0)
        FUZZ_REQUIRE(refusal.line > 0 && refusal.message[0]);
    free(text);

    text = fuzz_text(data, len);
    struct cli_invocation invocation = {.command = CLI_COMMAND_RUN};
    struct trk_error error = {0};
    if (cli_config_parse(&invocation, "config.toml", text, len, &error) < 0)
        FUZZ_REQUIRE(error.message[0]);
    free(text);
    return 0;
}
