/* Any bytes as an answer of Keeper: a list of servers, of prices, or nothing. */
#include "fuzz.h"

#include "catalog/keeper.h"

#include <errno.h>

static void try_servers(const char *text)
{
    struct trk_keeper_answer answer = {0};
    if (trk__keeper_parse(text, NULL, &answer) < 0)
        return;
    for (size_t i = 0; i < answer.count; i++) {
        FUZZ_REQUIRE(answer.server[i].json && answer.server[i].json[0] == '{');
        FUZZ_REQUIRE(*answer.server[i].vendor && *answer.server[i].name);
    }
    trk__keeper_answer_done(&answer);
}

static void try_prices(const char *text)
{
    double usd = -1;
    char region[TRK_FILTER_TEXT_SIZE];
    bool is_asked;
    int code = trk__keeper_parse_prices(text, "us-east-1", false, &usd, region, &is_asked);
    FUZZ_REQUIRE(code < 0 || usd >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    try_servers(text);
    try_prices(text);
    free(text);
    return 0;
}
