#include "gpu/nvidia_smi_parse.h"

#include <ctype.h>
#include <string.h>

static const char *const smi_names[TRK_SMI_COLUMN_COUNT] = {
    [TRK_SMI_INDEX] = "index",
    [TRK_SMI_UUID] = "uuid",
    [TRK_SMI_PCI] = "pci.bus_id",
    [TRK_SMI_NAME] = "name",
    [TRK_SMI_UTILIZATION] = "utilization.gpu",
    [TRK_SMI_MEMORY_BUSY] = "utilization.memory",
    [TRK_SMI_MEMORY_USED] = "memory.used",
    [TRK_SMI_MEMORY_TOTAL] = "memory.total",
    [TRK_SMI_TEMPERATURE] = "temperature.gpu",
    [TRK_SMI_POWER] = "power.draw",
    [TRK_SMI_CLOCK] = "clocks.current.sm",
    [TRK_SMI_MEMORY_CLOCK] = "clocks.current.memory",
};

static const char *const pmon_names[TRK_PMON_COLUMN_COUNT] = {
    [TRK_PMON_GPU] = "gpu",
    [TRK_PMON_PID] = "pid",
    [TRK_PMON_SM] = "sm",
    [TRK_PMON_FB] = "fb",
};

static struct trk_cursor trimmed(struct trk_cursor text)
{
    while (text.at < text.end && isspace((unsigned char)*text.at))
        text.at++;
    while (text.at < text.end && isspace((unsigned char)text.end[-1]))
        text.end--;
    return text;
}

/* Takes the text up to the next comma; false at the end of the line. */
static bool next_field(struct trk_cursor *line, bool *more, struct trk_cursor *ret_text)
{
    if (!*more)
        return false;
    size_t left = (size_t)(line->end - line->at);
    const char *comma = left ? memchr(line->at, ',', left) : NULL;
    const char *end = comma ? comma : line->end;
    *ret_text = trimmed((struct trk_cursor){.at = line->at, .end = end});
    line->at = comma ? comma + 1 : line->end;
    *more = comma != NULL;
    return true;
}

/* "memory.used [MiB]" is memory.used. */
static struct trk_cursor without_unit(struct trk_cursor text)
{
    size_t len = (size_t)(text.end - text.at);
    const char *bracket = len ? memchr(text.at, '[', len) : NULL;
    if (bracket)
        text.end = bracket;
    return trimmed(text);
}

static void note_place(const char *const *names, unsigned count, struct trk_cursor name,
                       unsigned place, struct trk_smi_places *places)
{
    for (unsigned i = 0; i < count && place < TRK_SMI_PLACES; i++)
        if (!places->place[i] && trk__cursor_equals(&name, names[i]))
            places->place[i] = (unsigned char)(place + 1);
}

bool trk__smi_header(struct trk_cursor line, struct trk_smi_places *ret_places)
{
    struct trk_smi_places places = {{0}};
    struct trk_cursor text;
    bool more = true;
    for (unsigned place = 0; next_field(&line, &more, &text); place++)
        note_place(smi_names, TRK_SMI_COLUMN_COUNT, without_unit(text), place, &places);
    if (!places.place[TRK_SMI_INDEX] || !places.place[TRK_SMI_UTILIZATION])
        return false;
    *ret_places = places;
    return true;
}

bool trk__smi_field(struct trk_cursor row, const struct trk_smi_places *places,
                    enum trk_smi_column column, struct trk_cursor *ret_text)
{
    struct trk_cursor text;
    bool more = true;
    for (unsigned place = 1; next_field(&row, &more, &text); place++)
        if (place == places->place[column]) {
            *ret_text = text;
            return true;
        }
    return false;
}

bool trk__smi_thousandths(struct trk_cursor text, uint64_t *ret_value)
{
    static const uint64_t MOST = UINT64_MAX / 1000 - 1;
    uint64_t whole, part = 0, weight = 100;
    if (!trk__cursor_u64(&text, &whole) || whole > MOST)
        return false;
    if (text.at < text.end && *text.at == '.')
        for (text.at++; text.at < text.end && isdigit((unsigned char)*text.at); text.at++) {
            part += weight * (uint64_t)(*text.at - '0');
            weight /= 10;
        }
    *ret_value = whole * 1000 + part;
    return true;
}

/* ---- pmon ---- */

bool trk__pmon_header(struct trk_cursor line, struct trk_smi_places *ret_places)
{
    struct trk_smi_places places = {{0}};
    struct trk_cursor word;
    trk__cursor_skip_blanks(&line);
    if (!trk__cursor_accept(&line, "#"))
        return false;
    for (unsigned place = 0; trk__cursor_word(&line, &word); place++)
        note_place(pmon_names, TRK_PMON_COLUMN_COUNT, word, place, &places);
    if (!places.place[TRK_PMON_GPU] || !places.place[TRK_PMON_PID])
        return false;
    *ret_places = places;
    return true;
}

static bool word_number(struct trk_cursor word, uint64_t most, uint64_t *ret_value)
{
    uint64_t value;
    if (!trk__cursor_u64(&word, &value) || !trk__cursor_at_end(&word) || value > most)
        return false;
    *ret_value = value;
    return true;
}

bool trk__pmon_row(struct trk_cursor line, const struct trk_smi_places *places,
                   struct trk_pmon_row *ret_row)
{
    struct trk_cursor word;
    uint64_t gpu = UINT64_MAX, pid = 0, sm = 0, memory = 0;
    bool memory_known = false;
    trk__cursor_skip_blanks(&line);
    if (trk__cursor_accept(&line, "#"))
        return false;
    for (unsigned place = 1; place <= TRK_SMI_PLACES && trk__cursor_word(&line, &word); place++) {
        if (place == places->place[TRK_PMON_GPU] && !word_number(word, UINT16_MAX, &gpu))
            return false;
        if (place == places->place[TRK_PMON_PID])
            word_number(word, INT32_MAX, &pid);
        if (place == places->place[TRK_PMON_SM])
            word_number(word, 100, &sm);
        if (place == places->place[TRK_PMON_FB])
            memory_known = word_number(word, UINT32_MAX, &memory);
    }
    if (gpu == UINT64_MAX)
        return false;
    *ret_row = (struct trk_pmon_row){.gpu = (uint32_t)gpu,
                                     .pid = (pid_t)pid,
                                     .sm_percent = (uint32_t)sm,
                                     .memory_known = memory_known,
                                     .memory_mib = memory};
    return true;
}
