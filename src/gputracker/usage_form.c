#include "gputracker/usage_form.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    double size;
    double
        factor; /* what a figure is multiplied by, as the Python package does: the same last digits */
};

static const struct unit ram_units[] = {{"bytes", 1, 1},
                                        {"kilobytes", 1e3, 1e-3},
                                        {"megabytes", 1e6, 1e-6},
                                        {"gigabytes", 1e9, 1e-9},
                                        {"terabytes", 1e12, 1e-12}};
static const struct unit time_units[] = {{"seconds", 1, 1},
                                         {"minutes", 60, 1.0 / 60},
                                         {"hours", 3600, 1.0 / 3600},
                                         {"days", 86400, 1.0 / 86400}};

static const struct unit *units_of(enum trk_gpu_unit_kind kind, size_t *ret_count)
{
    bool is_time = kind == TRK_GPU_UNIT_TIME;
    *ret_count =
        is_time ? sizeof time_units / sizeof *time_units : sizeof ram_units / sizeof *ram_units;
    return is_time ? time_units : ram_units;
}

const char *trk_gpu_unit(enum trk_gpu_unit_kind kind, size_t index, double *ret_size)
{
    size_t count;
    const struct unit *units = units_of(kind, &count);
    if (index >= count)
        return NULL;
    if (ret_size)
        *ret_size = units[index].size;
    return units[index].name;
}

void trk_gpu_form_init(struct trk_gpu_form *form)
{
    *form = (struct trk_gpu_form){.ram_unit = "gigabytes",
                                  .gpu_ram_unit = "gigabytes",
                                  .time_unit = "hours",
                                  .compat = TRK_GPU_COMPAT_1};
}

static int factor_of(enum trk_gpu_unit_kind kind, const char *what, const char *name,
                     double *ret_factor, struct trk_error *error)
{
    size_t count;
    const struct unit *units = units_of(kind, &count);
    char known[128] = "";
    for (size_t i = 0; i < count; i++) {
        if (name && strcmp(units[i].name, name) == 0) {
            *ret_factor = units[i].factor;
            return 0;
        }
        size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "", units[i].name);
    }
    return trk__error_set(error, -EINVAL, "\"%s\" is not a valid %s unit. Valid values are %s",
                          name ? name : "", what, known);
}

int trk__usage_scale(const struct trk_gpu_form *form, struct trk_usage_scale *ret_scale,
                     struct trk_error *error)
{
    struct trk_usage_scale scale;
    if (form->compat != TRK_GPU_COMPAT_1 && form->compat != TRK_GPU_COMPAT_5)
        return trk__error_set(error, -EINVAL, "forms are those of release 1 and 5");
    int code = factor_of(TRK_GPU_UNIT_RAM, "RAM", form->ram_unit, &scale.ram, error);
    if (code == 0)
        code = factor_of(TRK_GPU_UNIT_RAM, "GPU RAM", form->gpu_ram_unit, &scale.gpu_ram, error);
    if (code == 0)
        code = factor_of(TRK_GPU_UNIT_TIME, "time", form->time_unit, &scale.time, error);
    if (code == 0)
        *ret_scale = scale;
    return code;
}

int trk_gpu_form_check(const struct trk_gpu_form *form, struct trk_error *error)
{
    struct trk_usage_scale scale;
    return trk__usage_scale(form, &scale, error);
}
