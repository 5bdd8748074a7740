/* GPUs are counted by device, and a device's memory is matched against one device: four GPUs of 16 GiB hold no
 * model of 40. */
#include "advise/advice.h"
#include "advise/rounding.h"

#include <math.h>
#include <stdio.h>

/* Busy (over 5 %) for this part of the time: less is a desktop that drew a window. */
#define IN_USE_SHARE 0.01

static const double vram_margin[TRK_LEVEL_COUNT] = {
    [TRK_LEVEL_LEAN] = 0.05, [TRK_LEVEL_BALANCED] = 0.10, [TRK_LEVEL_SAFE] = 0.20};

struct devices {
    bool known;
    unsigned used;
    double vram_bytes; /* largest of one device */
    double total_bytes;
};

static void look_at_run(const struct trk_run_facts *run, struct devices *devices)
{
    unsigned used = 0;
    for (size_t i = 0; i < run->gpu_count; i++) {
        const struct trk_gpu_facts *gpu = &run->gpus[i];
        devices->known |= !isnan(gpu->busy_share);
        used += gpu->busy_share > IN_USE_SHARE;
        if (gpu->vram_peak_bytes > devices->vram_bytes) {
            devices->vram_bytes = gpu->vram_peak_bytes;
            devices->total_bytes = gpu->vram_total_bytes;
        }
    }
    if (used > devices->used)
        devices->used = used;
}

static void explain(const struct devices *devices, double margin, struct trk_advice_level *level)
{
    char *text = level->gpu_reason, size[TRK_SIZE_WORDS_SIZE];
    if (devices->used == 0) {
        snprintf(text, TRK_REASON_SIZE, "no GPU was over 5 %% busy for over 1 %% of the time");
        return;
    }
    int len = snprintf(text, TRK_REASON_SIZE,
                       "%u GPU%s over 5 %% busy for over 1 %% of the time; at most %s on one "
                       "device + %.0f %%",
                       devices->used, devices->used == 1 ? " was" : "s were",
                       trk__size_words(devices->vram_bytes, size), 100 * margin);
    if (level->vram_bytes > devices->total_bytes && len < TRK_REASON_SIZE)
        snprintf(text + len, (size_t)(TRK_REASON_SIZE - len),
                 ", which is more than the %s that the device has",
                 trk__size_words(devices->total_bytes, size));
}

void trk__advise_gpu(const struct trk_run_facts *runs, size_t count,
                     struct trk_advice_level level[TRK_LEVEL_COUNT])
{
    struct devices devices = {.total_bytes = NAN};
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        look_at_run(&runs[i], &devices);
        seen += runs[i].gpu_count;
    }
    for (int i = 0; i < TRK_LEVEL_COUNT; i++) {
        bool unread = seen > 0 && !devices.known;
        level[i].gpu_devices = unread ? NAN : devices.used;
        level[i].vram_bytes = unread ? NAN : 0;
        if (unread) {
            snprintf(level[i].gpu_reason, TRK_REASON_SIZE, "the GPUs could not be read");
            continue;
        }
        if (devices.used > 0 && devices.vram_bytes > 0)
            level[i].vram_bytes =
                trk__round_request_bytes(devices.vram_bytes * (1 + vram_margin[i]));
        explain(&devices, vram_margin[i], &level[i]);
    }
}
