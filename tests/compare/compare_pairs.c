/* Compares pairs of groups: each line of standard input is "base values | new values", each line of output the p value, the
 * effect, its interval and its confidence. For tests against other implementations. */
#include "compare/rank_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trk_values read_group(char *words, double values[TRK_VALUES_MAX])
{
    size_t count = 0;
    for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n"))
        if (count < TRK_VALUES_MAX)
            values[count++] = strtod(word, NULL);
    trk__values_sort(values, count);
    return (struct trk_values){values, count};
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        double base_values[TRK_VALUES_MAX], new_values[TRK_VALUES_MAX], p;
        char *bar = strchr(line, '|');
        if (!bar)
            return 1;
        *bar = '\0';
        struct trk_values base = read_group(line, base_values);
        struct trk_values new = read_group(bar + 1, new_values);
        struct trk_interval effect;
        if (trk__mann_whitney(base, new, &p) < 0 ||
            trk__effect(base, new, TRK_EFFECT_RATIO, &effect) < 0)
            return 1;
        printf("%.17g %.17g %.17g %.17g %.17g\n", p, effect.value, effect.low, effect.high,
               effect.confidence);
    }
    free(line);
    return 0;
}
