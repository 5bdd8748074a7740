/* Any bytes as the record of a run: what the page is made of must be JSON, whatever stands in the record. */
#include "fuzz.h"

#include "base/json_path.h"
#include "report/page_data.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_run *run;
    if (trk__run_snapshot_read(data, len, "fuzz", &run, NULL) < 0)
        return 0;
    struct trk_report_options options;
    trk_report_options_init(&options);
    struct trk_page_input input = {.run = run, .options = &options, .now = 1};
    struct trk_buffer text;
    trk__buffer_init(&text, 64 << 20);
    FUZZ_REQUIRE(trk__page_data(&input, &text) == 0);
    char *whole = trk__json_text_at(text.data, "");
    FUZZ_REQUIRE(whole && *whole == '{');
    free(whole);
    trk__buffer_done(&text);
    trk__run_free(run);
    return 0;
}
