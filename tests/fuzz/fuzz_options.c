/* The words typed, one a line; a line TRACKER_X=... is a variable. No file is read: the words that would name
 * one are left out. */
#include "fuzz.h"
#include "options.h"

enum { WORDS_MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len);
    char name[] = "resource-tracker", no_file[] = "TRACKER_CONFIG=none";
    char *words[WORDS_MAX + 2] = {name};
    char *environment[WORDS_MAX + 2] = {no_file};
    size_t word_count = 1, variable_count = 1;
    char *save = NULL;
    for (char *word = strtok_r(text, "\n", &save); word; word = strtok_r(NULL, "\n", &save)) {
        if (strstr(word, "conf") || strstr(word, "CONF"))
            continue;
        if (strncmp(word, "TRACKER_", 8) == 0 && variable_count <= WORDS_MAX)
            environment[variable_count++] = word;
        else if (word_count <= WORDS_MAX)
            words[word_count++] = word;
    }

    struct cli_invocation invocation;
    struct trk_error error = {0};
    if (cli_invocation_init(&invocation, words, environment, &error) < 0)
        FUZZ_REQUIRE(error.message[0]);
    else
        cli_invocation_done(&invocation);
    free(text);
    return 0;
}
