#include "gputracker/tracking_file.h"

#include "gputracker/usage_form.h"

#include <string.h>

static const struct trk_data_column static_columns[] = {
    {"ram_unit", TRK_DATA_TEXT},
    {"gpu_ram_unit", TRK_DATA_TEXT},
    {"time_unit", TRK_DATA_TEXT},
    {"ram_system_capacity", TRK_DATA_REAL},
    {"gpu_ram_system_capacity", TRK_DATA_REAL},
    {"system_core_count", TRK_DATA_INTEGER},
    {"n_expected_cores", TRK_DATA_INTEGER},
    {"system_gpu_count", TRK_DATA_INTEGER},
    {"n_expected_gpus", TRK_DATA_INTEGER},
};

static const struct trk_data_column row_columns[] = {
    {"main_ram", TRK_DATA_REAL},
    {"descendants_ram", TRK_DATA_REAL},
    {"combined_ram", TRK_DATA_REAL},
    {"system_ram", TRK_DATA_REAL},
    {"main_gpu_ram", TRK_DATA_REAL},
    {"descendants_gpu_ram", TRK_DATA_REAL},
    {"combined_gpu_ram", TRK_DATA_REAL},
    {"system_gpu_ram", TRK_DATA_REAL},
    {"gpu_sum_utilization_percent", TRK_DATA_REAL},
    {"gpu_hardware_utilization_percent", TRK_DATA_REAL},
    {"main_n_threads", TRK_DATA_INTEGER},
    {"descendants_n_threads", TRK_DATA_INTEGER},
    {"combined_n_threads", TRK_DATA_INTEGER},
    {"cpu_system_sum_utilization_percent", TRK_DATA_REAL},
    {"cpu_system_hardware_utilization_percent", TRK_DATA_REAL},
    {"cpu_main_sum_utilization_percent", TRK_DATA_REAL},
    {"cpu_main_hardware_utilization_percent", TRK_DATA_REAL},
    {"cpu_descendants_sum_utilization_percent", TRK_DATA_REAL},
    {"cpu_descendants_hardware_utilization_percent", TRK_DATA_REAL},
    {"cpu_combined_sum_utilization_percent", TRK_DATA_REAL},
    {"cpu_combined_hardware_utilization_percent", TRK_DATA_REAL},
    {"timestamp", TRK_DATA_REAL},
};

enum {
    STATIC_COLUMNS = sizeof static_columns / sizeof *static_columns,
    ROW_COLUMNS = sizeof row_columns / sizeof *row_columns
};
_Static_assert(sizeof(struct trk_tracking_row) == ROW_COLUMNS * sizeof(double),
               "a row has a double for each column");

static int write_static(struct trk_data_writer *writer, const struct trk_gpu_form *form,
                        const struct trk_gpu_usage *usage, struct trk_error *error)
{
    struct trk_usage_scale scale;
    int code = trk__usage_scale(form, &scale, error);
    if (code < 0)
        return code;
    const struct trk_data_cell cells[STATIC_COLUMNS] = {
        {.text = form->ram_unit},
        {.text = form->gpu_ram_unit},
        {.text = form->time_unit},
        {.number = usage->ram_capacity_bytes * scale.ram},
        {.number = usage->gpu_ram_capacity_bytes * scale.gpu_ram},
        {.number = usage->system_core_count},
        {.number = usage->n_expected_cores},
        {.number = usage->system_gpu_count},
        {.number = usage->n_expected_gpus},
    };
    code = trk__data_writer_table(writer, TRK_STATIC_TABLE, static_columns, STATIC_COLUMNS, error);
    if (code == 0)
        code = trk__data_writer_row(writer, cells, error);
    return code < 0
               ? code
               : trk__data_writer_table(writer, TRK_DATA_TABLE, row_columns, ROW_COLUMNS, error);
}

int trk__tracking_file_new(const char *path, bool overwrite, const struct trk_gpu_form *form,
                           const struct trk_gpu_usage *usage, struct trk_data_writer **ret_writer,
                           struct trk_error *error)
{
    struct trk_data_writer *writer;
    int code = trk__data_writer_new(path, overwrite, &writer, error);
    if (code < 0)
        return code;
    code = write_static(writer, form, usage, error);
    if (code < 0)
        trk__data_writer_close(writer, NULL);
    else
        *ret_writer = writer;
    return code;
}

int trk__tracking_file_row(struct trk_data_writer *writer, const struct trk_tracking_row *row,
                           struct trk_error *error)
{
    double number[ROW_COLUMNS];
    struct trk_data_cell cells[ROW_COLUMNS];
    memcpy(number, row, sizeof number);
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        cells[i] = (struct trk_data_cell){.number = number[i]};
    return trk__data_writer_row(writer, cells, error);
}
