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

bool cli_gates_fail(trk_comparison *comparison, const struct cli_comparing *comparing,
                    const char *name, bool has_base)
{
    bool fails = false;
    for (size_t i = 0; i < comparing->gates.count; i++) {
        const char *gate = comparing->gates.at[i], *words;
        struct trk_error error = {0};
        enum trk_gate_outcome outcome;
        bool needs_base;
        if (!has_base && trk_gate_check(gate, &needs_base, NULL) == 0 && needs_base)
            continue;
        if (trk_comparison_gate(comparison, gate, &outcome, &words, &error) < 0) {
            cli_fail("%s", error.message);
            fails = true;
            continue;
        }
        if (outcome == TRK_GATE_PASSED)
            continue;
        cli_fail("%s%s%s%s", name ? name : "", name ? ": " : "", words,
                 outcome != TRK_GATE_FAILED && comparing->strict ? " (--strict)" : "");
        fails |= outcome == TRK_GATE_FAILED || comparing->strict;
    }
    return fails;
}

void cli_side_print_notes(const trk_side *side)
{
    const char *note;
    for (size_t i = 0; (note = trk_side_note(side, i)); i++)
        cli_fail("note: %s", note);
}

trk_side *cli_side_load(const char *word)
{
    struct trk_error error = {0};
    trk_side *side = NULL;
    if (trk_side_new(&side, &error) == 0 && trk_side_add(side, word, &error) == 0) {
        cli_side_print_notes(side);
        return side;
    }
    cli_fail("%s", error.message);
    trk_side_free(side);
    return NULL;
}
