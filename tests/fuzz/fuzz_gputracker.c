/* What gpu-tracker reads: mappings of a process, lists of devices, command lines, options, analyses. The first byte
 * chooses. */
#include "fuzz.h"
#include "gpu/gpu_reach.h"
#include "gput_options.h"
#include "gput_words.h"
#include "platform/linux/proc_smaps.h"

static void read_smaps(const char *text, size_t len)
{
    struct trk_smaps smaps = {0};
    size_t half = len / 2; /* as it comes in pieces */
    trk__smaps_take(&smaps, trk__cursor(text, half));
    trk__smaps_take(&smaps, trk__cursor(text + half, len - half));
    if (trk__smaps_end(&smaps) == 0)
        for (uint32_t i = 0; i < smaps.share_count; i++) {
            FUZZ_REQUIRE(smaps.share[i].bytes > 0);
            FUZZ_REQUIRE(i == 0 || smaps.share[i - 1].key < smaps.share[i].key);
        }
    trk__smaps_done(&smaps);
}

static void read_lists(const char *text)
{
    struct trk_gpu_device device[2] = {{.minor = 0}, {.minor = 1}};
    struct trk_gpu_reading reading = {.device = device, .device_count = 2};
    strcpy(device[1].info.uuid, "GPU-1234");
    int visible = trk__gpu_is_visible(text, &reading, 1, true);
    FUZZ_REQUIRE(visible == 0 || visible == 1);
    trk__gpu_is_visible(text, &reading, 0, false);
    trk__gpu_is_allowed(text, 1);
}

static size_t split(const char *text, char ***ret_words)
{
    struct trk_error error = {0};
    size_t count = 0;
    if (gput_words_split(text, ret_words, &error) < 0) {
        FUZZ_REQUIRE(error.message[0]);
        *ret_words = NULL;
        return 0;
    }
    while ((*ret_words)[count])
        count++;
    return count;
}

/* The words of a text are the words of a command line. */
static void read_words(const char *text)
{
    char **words, *argv[64] = {"gpu-tracker"};
    struct gput_options options;
    struct trk_error error = {0};
    size_t count = split(text, &words), bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(words[i]);
    FUZZ_REQUIRE(bytes <= strlen(text));
    for (size_t i = 0; i < count && i < 62; i++)
        argv[i + 1] = words[i];
    if (gput_options_init(&options, argv, NULL, &error) < 0)
        FUZZ_REQUIRE(error.message[0]);
    gput_options_done(&options);
    free(words);
}

static void read_results(const char *text)
{
    static const char *const names[] = {"one", "two"};
    const char *const results[] = {text, text};
    char *shown, *warnings;
    struct trk_error error = {0};
    for (int style = TRK_SUB_TRACK_JSON; style <= TRK_SUB_TRACK_TEXT; style++) {
        if (trk_sub_track_compare(names, results, 2, "max", (enum trk_sub_track_style)style, &shown,
                                  &warnings, &error) < 0) {
            FUZZ_REQUIRE(error.message[0]);
            continue;
        }
        FUZZ_REQUIRE(shown && !warnings); /* they are the same */
        trk_free(shown);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (!len)
        return 0;
    char *text = fuzz_text(data + 1, len - 1);
    if (data[0] == 'm')
        read_smaps(text, len - 1);
    else if (data[0] == 'l')
        read_lists(text);
    else if (data[0] == 'w')
        read_words(text);
    else
        read_results(text);
    free(text);
    return 0;
}
