/* What amdgpu shows in sysfs. https://docs.kernel.org/gpu/amdgpu/driver-misc.html and .../thermal.html */
#include "gpu/gpu_drm.h"

const struct trk_drm_figure trk__gpu_amd_figures[] = {
    {TRK_GPU_SLOT(UTILIZATION), "gpu_busy_percent", 10000, 1},
    {TRK_GPU_SLOT(MEMORY_BUSY), "mem_busy_percent", 10000, 1},
    {TRK_GPU_SLOT(MEMORY_USED), "mem_info_vram_used", 1, 1},
    {TRK_GPU_SLOT(MEMORY_TOTAL), "mem_info_vram_total", 1, 1},
    {TRK_GPU_SLOT(TEMPERATURE), "hwmon/hwmon*/temp1_input", 1, 1},
    {TRK_GPU_SLOT(POWER), "hwmon/hwmon*/power1_average", 1, 1000}, /* microwatts */
    {TRK_GPU_SLOT(POWER), "hwmon/hwmon*/power1_input", 1, 1000},
    {TRK_GPU_SLOT(CLOCK), "hwmon/hwmon*/freq1_input", 1, 1},
    {TRK_GPU_SLOT(MEMORY_CLOCK), "hwmon/hwmon*/freq2_input", 1, 1},
    {0, NULL, 0, 0},
};
