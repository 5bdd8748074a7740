/* The tracking file: what a run was measured in, then a row each interval. */
#ifndef TRK_GPUTRACKER_TRACKING_FILE_H
#define TRK_GPUTRACKER_TRACKING_FILE_H

#include "gputracker/data_file.h"

/* In the file's order; memory in the file's units. */
struct trk_tracking_row {
    double main_ram, descendants_ram, combined_ram, system_ram;
    double main_gpu_ram, descendants_gpu_ram, combined_gpu_ram, system_gpu_ram;
    double gpu_sum_percent, gpu_hardware_percent;
    double main_n_threads, descendants_n_threads, combined_n_threads;
    double cpu_system_sum_percent, cpu_system_hardware_percent;
    double cpu_main_sum_percent, cpu_main_hardware_percent;
    double cpu_descendants_sum_percent, cpu_descendants_hardware_percent;
    double cpu_combined_sum_percent, cpu_combined_hardware_percent;
    double timestamp;
};

/* Makes the file and writes its static part. */
int trk__tracking_file_new(const char *path, bool overwrite, const struct trk_gpu_form *form,
                           const struct trk_gpu_usage *usage, struct trk_data_writer **ret_writer,
                           struct trk_error *error);

int trk__tracking_file_row(struct trk_data_writer *writer, const struct trk_tracking_row *row,
                           struct trk_error *error);

#endif
