/* Units of figures, and figures as text. */
#ifndef TRK_GPUTRACKER_USAGE_FORM_H
#define TRK_GPUTRACKER_USAGE_FORM_H

#include "resource_tracker.h"

/* A form with its units as factors: the figure times the factor is what is shown. */
struct trk_usage_scale {
    double ram, gpu_ram, time;
};

int trk__usage_scale(const struct trk_gpu_form *form, struct trk_usage_scale *ret_scale,
                     struct trk_error *error);

#endif
