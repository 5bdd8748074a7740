/* account/observation_log.h: a line is refused, or its text form gives the same observation again; and the account takes
 * observations in any order. */
#include "account/observation_log.h"
#include "fuzz.h"
#include "resource_tracker.h"

/* Times and start times of a real log are far from the ends of their range. */
enum { TIME_BITS = 50 };

static void require_same_again(const struct trk_observation *observation)
{
    struct trk_buffer text, again;
    struct trk_observation read;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    trk__buffer_init(&again, TRK_BUFFER_LIMIT_DEFAULT);
    trk__observation_put(&text, observation);
    FUZZ_REQUIRE(trk__observation_parse(trk__cursor(text.data, text.len - 1), &read) == 0);
    trk__observation_put(&again, &read);
    FUZZ_REQUIRE(text.len == again.len && memcmp(text.data, again.data, text.len) == 0);
    trk__buffer_done(&again);
    trk__buffer_done(&text);
}

static void take(struct trk_account *account, struct trk_observation *observation)
{
    struct trk_request request;
    const uint64_t time_mask = (UINT64_C(1) << TIME_BITS) - 1;
    observation->at_ns = (int64_t)((uint64_t)observation->at_ns & time_mask);
    if (observation->kind == TRK_OBS_FOUND)
        observation->found.start_ticks &= time_mask >> 24;
    if (observation->kind == TRK_OBS_READ)
        observation->read.start_ticks &= time_mask >> 24;
    if (observation->kind == TRK_OBS_EXITED)
        observation->exited.start_ticks &= time_mask >> 24;
    trk__account_take(account, observation);
    while (trk__account_request(account, &request))
        FUZZ_REQUIRE(request.index == TRK_NO_PROCESS || request.index < account->table.used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_cursor text = trk__cursor((const char *)data, len), line;
    struct trk_account_options options = {.root_pid = 100,
                                          .self_pid = 50,
                                          .has_children = true,
                                          .histories_max = 4,
                                          .cores = 2,
                                          .page_bytes = 4096,
                                          .ticks_per_second = 100,
                                          .wanted = 63};
    struct trk_account account;
    struct trk_account_options parsed;
    options.is_child = len % 2;
    FUZZ_REQUIRE(trk__account_init(&account, &options) == 0);
    while (trk__cursor_line(&text, &line)) {
        struct trk_observation observation;
        trk__account_options_parse(line, &parsed);
        if (trk__observation_parse(line, &observation) < 0)
            continue;
        require_same_again(&observation);
        take(&account, &observation);
    }
    struct trk_summary summary = {.size = sizeof summary};
    trk__account_summarise(&account, &summary);
    FUZZ_REQUIRE(account.table.count <= account.table.used);
    trk__account_done(&account);
    return 0;
}
