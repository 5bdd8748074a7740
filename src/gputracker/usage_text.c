/* The figures as JSON and as text, from one table: one row a line. */
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sized.h"
#include "gputracker/usage_form.h"

#include <errno.h>
#include <string.h>

enum kind {
    OPENS,
    CLOSES,
    UNIT_RAM,
    UNIT_GPU_RAM,
    UNIT_TIME,
    RAM,
    GPU_RAM,
    SECONDS,
    PERCENT,
    COUNT
};

enum { IN_1 = 1, IN_5 = 2, IN_BOTH = IN_1 | IN_5, TEXT_LIMIT = 1 << 16, TEXT_INDENT = 3 };

struct item {
    enum kind kind;
    unsigned forms;
    const char *key, *label;
    size_t offset;
};

#define AT(field) offsetof(struct trk_gpu_usage, field)
#define RSS(forms, key, label, field)                                                              \
    {OPENS, forms, key, label, 0}, {RAM, forms, "total_rss", "Total RSS", AT(field.total_bytes)},  \
        {RAM, forms, "private_rss", "Private RSS", AT(field.private_bytes)},                       \
        {RAM, forms, "shared_rss", "Shared RSS", AT(field.shared_bytes)},                          \
    {                                                                                              \
        CLOSES, forms, NULL, NULL, 0                                                               \
    }
#define PERCENTAGES(key, label, field)                                                             \
    {OPENS, IN_5, key, label, 0},                                                                  \
        {PERCENT, IN_5, "max_sum_percent", "Max sum percent", AT(field.max_sum)},                  \
        {PERCENT, IN_5, "max_hardware_percent", "Max hardware percent", AT(field.max_hardware)},   \
        {PERCENT, IN_5, "mean_sum_percent", "Mean sum percent", AT(field.mean_sum)},               \
        {PERCENT, IN_5, "mean_hardware_percent", "Mean hardware percent",                          \
         AT(field.mean_hardware)},                                                                 \
    {                                                                                              \
        CLOSES, IN_5, NULL, NULL, 0                                                                \
    }

static const struct item items[] = {
    {OPENS, IN_BOTH, "max_ram", "Max RAM", 0},
    {UNIT_RAM, IN_BOTH, "unit", "Unit", 0},
    {RAM, IN_BOTH, "system_capacity", "System capacity", AT(ram_capacity_bytes)},
    {RAM, IN_BOTH, "system", "System", AT(ram_system_bytes)},
    RSS(IN_BOTH, "main", "Main", ram_main),
    RSS(IN_1, "descendents", "Descendents", ram_descendants),
    RSS(IN_5, "descendants", "Descendants", ram_descendants),
    RSS(IN_BOTH, "combined", "Combined", ram_combined),
    {CLOSES, IN_BOTH, NULL, NULL, 0},
    {OPENS, IN_BOTH, "max_gpu_ram", "Max GPU RAM", 0},
    {UNIT_GPU_RAM, IN_BOTH, "unit", "Unit", 0},
    {GPU_RAM, IN_5, "system_capacity", "System capacity", AT(gpu_ram_capacity_bytes)},
    {GPU_RAM, IN_5, "system", "System", AT(gpu_ram_system_bytes)},
    {GPU_RAM, IN_BOTH, "main", "Main", AT(gpu_ram_main_bytes)},
    {GPU_RAM, IN_1, "descendents", "Descendents", AT(gpu_ram_descendants_bytes)},
    {GPU_RAM, IN_5, "descendants", "Descendants", AT(gpu_ram_descendants_bytes)},
    {GPU_RAM, IN_BOTH, "combined", "Combined", AT(gpu_ram_combined_bytes)},
    {CLOSES, IN_BOTH, NULL, NULL, 0},
    {OPENS, IN_5, "cpu_utilization", "CPU utilization", 0},
    {COUNT, IN_5, "system_core_count", "System core count", AT(system_core_count)},
    {COUNT, IN_5, "n_expected_cores", "Number of expected cores", AT(n_expected_cores)},
    PERCENTAGES("system", "System", cpu_system),
    PERCENTAGES("main", "Main", cpu_main),
    PERCENTAGES("descendants", "Descendants", cpu_descendants),
    PERCENTAGES("combined", "Combined", cpu_combined),
    {COUNT, IN_5, "main_n_threads", "Main number of threads", AT(main_n_threads)},
    {COUNT, IN_5, "descendants_n_threads", "Descendants number of threads",
     AT(descendants_n_threads)},
    {COUNT, IN_5, "combined_n_threads", "Combined number of threads", AT(combined_n_threads)},
    {CLOSES, IN_5, NULL, NULL, 0},
    {OPENS, IN_5, "gpu_utilization", "GPU utilization", 0},
    {COUNT, IN_5, "system_gpu_count", "System GPU count", AT(system_gpu_count)},
    {COUNT, IN_5, "n_expected_gpus", "Number of expected GPUs", AT(n_expected_gpus)},
    PERCENTAGES("gpu_percentages", "GPU percentages", gpu),
    {CLOSES, IN_5, NULL, NULL, 0},
    {OPENS, IN_BOTH, "compute_time", "Compute time", 0},
    {UNIT_TIME, IN_BOTH, "unit", "Unit", 0},
    {SECONDS, IN_BOTH, "time", "Time", AT(compute_seconds)},
    {CLOSES, IN_BOTH, NULL, NULL, 0},
};

struct printer {
    const struct trk_gpu_usage *usage;
    const struct trk_gpu_form *form;
    struct trk_usage_scale scale;
    struct trk_buffer text;
};

static double value_of(const struct printer *printer, const struct item *item)
{
    double value;
    memcpy(&value, (const char *)printer->usage + item->offset, sizeof value);
    switch (item->kind) {
    case RAM:
        return value * printer->scale.ram;
    case GPU_RAM:
        return value * printer->scale.gpu_ram;
    case SECONDS:
        return value * printer->scale.time;
    default:
        return value;
    }
}

static uint32_t count_of(const struct printer *printer, const struct item *item)
{
    uint32_t count;
    memcpy(&count, (const char *)printer->usage + item->offset, sizeof count);
    return count;
}

/* NULL: it is no unit. */
static const char *unit_of(const struct printer *printer, enum kind kind)
{
    return kind == UNIT_RAM       ? printer->form->ram_unit
           : kind == UNIT_GPU_RAM ? printer->form->gpu_ram_unit
           : kind == UNIT_TIME    ? printer->form->time_unit
                                  : NULL;
}

static bool is_shown(const struct printer *printer, const struct item *item)
{
    return item->forms & (printer->form->compat == TRK_GPU_COMPAT_5 ? IN_5 : IN_1);
}

/* ---- JSON ---- */

static void put_json(struct printer *printer, struct trk_json *json, const struct item *item)
{
    const char *unit = unit_of(printer, item->kind);
    if (item->kind == CLOSES) {
        trk__json_end_object(json);
        return;
    }
    trk__json_key(json, item->key);
    if (item->kind == OPENS) {
        trk__json_begin_object(json);
    } else if (unit) {
        trk__json_string(json, unit);
    } else if (item->kind == COUNT) {
        trk__json_u64(json, count_of(printer, item));
    } else {
        trk__json_value_follows(json);
        trk__number_add_python(json->buffer, value_of(printer, item));
    }
}

static void print_json(struct printer *printer)
{
    struct trk_buffer compact;
    trk__buffer_init(&compact, TEXT_LIMIT);
    struct trk_json json = trk__json(&compact);
    trk__json_begin_object(&json);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (is_shown(printer, &items[i]))
            put_json(printer, &json, &items[i]);
    trk__json_end_object(&json);
    if (!compact.failure)
        trk__json_indent(&printer->text, compact.data, 1);
    else
        printer->text.failure = compact.failure;
    trk__buffer_done(&compact);
}

/* ---- text ---- */

static void put_line(struct printer *printer, const struct item *item, int depth)
{
    const char *unit = unit_of(printer, item->kind);
    struct trk_buffer *text = &printer->text;
    if (text->len)
        trk__buffer_add_char(text, '\n');
    trk__buffer_printf(text, "%*s%s:", depth * TEXT_INDENT, "", item->label);
    if (item->kind == OPENS)
        return;
    trk__buffer_add_char(text, ' ');
    if (unit)
        trk__buffer_add_text(text, unit);
    else if (item->kind == COUNT)
        trk__buffer_add_u64(text, count_of(printer, item));
    else
        trk__number_add_python(text, trk__number_rounded(value_of(printer, item), 3));
}

static void print_text(struct printer *printer)
{
    int depth = 0;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        if (!is_shown(printer, &items[i]))
            continue;
        if (items[i].kind == CLOSES)
            depth--;
        else
            put_line(printer, &items[i], depth);
        depth += items[i].kind == OPENS;
    }
}

static int print(const struct trk_gpu_usage *usage, const struct trk_gpu_form *form,
                 void (*method)(struct printer *), char **ret_text, struct trk_error *error)
{
    struct trk_gpu_form usual;
    trk_gpu_form_init(&usual);
    struct trk_gpu_usage known = {0};
    struct printer printer = {.usage = &known, .form = form ? form : &usual};
    int code = trk__sized_take(usage, &known, sizeof known, error);
    if (code == 0)
        code = trk__usage_scale(printer.form, &printer.scale, error);
    if (code < 0)
        return code;
    trk__buffer_init(&printer.text, TEXT_LIMIT);
    method(&printer);
    if (printer.text.failure) {
        code = printer.text.failure;
        trk__buffer_done(&printer.text);
        return trk__error_set(error, code, "out of memory");
    }
    *ret_text = printer.text.data;
    return 0;
}

int trk_gpu_usage_json(const struct trk_gpu_usage *usage, const struct trk_gpu_form *form,
                       char **ret_text, struct trk_error *error)
{
    return print(usage, form, print_json, ret_text, error);
}

int trk_gpu_usage_text(const struct trk_gpu_usage *usage, const struct trk_gpu_form *form,
                       char **ret_text, struct trk_error *error)
{
    return print(usage, form, print_text, ret_text, error);
}
