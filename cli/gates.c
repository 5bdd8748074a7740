#include "gates.h"

int cli_gates_check(const struct cli_comparing *comparing, bool has_base)
{
    for (size_t i = 0; i < comparing->gates.count; i++) {
        struct trk_error error = {0};
        bool needs_base;
        if (trk_gate_check(comparing->gates.at[i], &needs_base, &error) < 0) {
            cli_fail("--fail-if: %s", error.message);
            return -1;
        }
        if (needs_base && !has_base) {
            cli_fail("--fail-if: gate '%s' needs a base; give --base RUN, a baseline or a key",
                     comparing->gates.at[i]);
            return -1;
        }
    }
    return 0;
}

bool cli_gates_fail(trk_comparison *comparison, const struct cli_comparing *comparing)
{
    bool fails = false;
    for (size_t i = 0; i < comparing->gates.count; i++) {
        struct trk_error error = {0};
        enum trk_gate_outcome outcome;
        const char *words;
        if (trk_comparison_gate(comparison, comparing->gates.at[i], &outcome, &words, &error) < 0) {
            cli_fail("%s", error.message);
            fails = true;
            continue;
        }
        if (outcome == TRK_GATE_PASSED)
            continue;
        bool is_failure = outcome == TRK_GATE_FAILED || comparing->strict;
        cli_fail("%s%s", words,
                 outcome != TRK_GATE_FAILED && comparing->strict ? " (--strict)" : "");
        fails |= is_failure;
    }
    return fails;
}

trk_side *cli_side_load(const char *word)
{
    struct trk_error error = {0};
    trk_side *side = NULL;
    if (trk_side_new(&side, &error) == 0 && trk_side_add(side, word, &error) == 0)
        return side;
    cli_fail("%s", error.message);
    trk_side_free(side);
    return NULL;
}
