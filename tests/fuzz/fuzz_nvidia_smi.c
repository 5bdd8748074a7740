/* gpu/nvidia_smi_parse.h: lines of any text, as headers and as rows below the last header. */
#include "fuzz.h"
#include "gpu/nvidia_smi_parse.h"

static void require_places(const struct trk_smi_places *places)
{
    for (unsigned i = 0; i < TRK_SMI_COLUMN_COUNT; i++)
        FUZZ_REQUIRE(places->place[i] <= TRK_SMI_PLACES);
}

static void take_csv(struct trk_cursor line, struct trk_smi_places *places)
{
    if (trk__smi_header(line, places)) {
        require_places(places);
        return;
    }
    for (unsigned i = 0; i < TRK_SMI_COLUMN_COUNT; i++) {
        struct trk_cursor text;
        uint64_t value;
        if (!trk__smi_field(line, places, (enum trk_smi_column)i, &text))
            continue;
        FUZZ_REQUIRE(text.at >= line.at && text.at <= text.end && text.end <= line.end);
        trk__smi_thousandths(text, &value);
    }
}

static void take_pmon(struct trk_cursor line, struct trk_smi_places *places)
{
    struct trk_pmon_row row;
    if (trk__pmon_header(line, places))
        require_places(places);
    else if (trk__pmon_row(line, places, &row))
        FUZZ_REQUIRE(row.pid >= 0 && row.sm_percent <= 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct trk_smi_places csv = {{0}}, pmon = {{0}};
    struct trk_cursor text = trk__cursor((const char *)data, len), line;
    while (trk__cursor_line(&text, &line)) {
        take_csv(line, &csv);
        take_pmon(line, &pmon);
    }
    return 0;
}
