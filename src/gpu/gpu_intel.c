/* What i915 and xe show in sysfs: no utilization, which is summed over the clients in fdinfo instead. */
#include "gpu/gpu_drm.h"

const struct trk_drm_figure trk__gpu_intel_figures[] = {
    {TRK_GPU_SLOT(TEMPERATURE), "hwmon/hwmon*/temp2_input", 1, 1}, /* xe: the package */
    {TRK_GPU_SLOT(TEMPERATURE), "hwmon/hwmon*/temp1_input", 1, 1},
    {TRK_GPU_SLOT(POWER), "hwmon/hwmon*/power1_input", 1, 1000},
    {TRK_GPU_SLOT(ENERGY), "hwmon/hwmon*/energy1_input", 1, 1000}, /* microjoules */
    {TRK_GPU_SLOT(CLOCK), "tile0/gt0/freq0/act_freq", 1000000, 1},
    {TRK_GPU_SLOT(CLOCK), "drm/card*/gt/gt0/rps_act_freq_mhz", 1000000, 1},
    {TRK_GPU_SLOT(CLOCK), "drm/card*/gt_act_freq_mhz", 1000000, 1},
    {0, NULL, 0, 0},
};
