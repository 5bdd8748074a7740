#include "account/process_table.h"

#include "base/array.h"

#include <stdlib.h>

enum { PROCESSES_MAX = 1 << 22 };

void trk__process_table_done(struct trk_process_table *table)
{
    free(table->item);
    free(table->order);
    free(table->vacant);
    trk__index_map_done(&table->by_pid);
    *table = (struct trk_process_table){0};
}

uint32_t trk__process_find(const struct trk_process_table *table, pid_t pid)
{
    uint32_t index;
    return pid > 0 && trk__index_map_get(&table->by_pid, (uint64_t)pid, &index) ? index
                                                                                : TRK_NO_PROCESS;
}

uint32_t trk__process_add(struct trk_process_table *table, pid_t pid, pid_t ppid,
                          uint64_t start_ticks)
{
    uint32_t index = table->vacant_count ? table->vacant[table->vacant_count - 1] : table->used;
    /* Room for its way back to `vacant` is made here, so that a removal cannot fail. */
    if (trk__array_reserve(&table->item, &table->capacity, index + 1, sizeof *table->item,
                           PROCESSES_MAX) < 0 ||
        trk__array_reserve(&table->order, &table->order_capacity, table->count + 1,
                           sizeof *table->order, PROCESSES_MAX) < 0 ||
        trk__array_reserve(&table->vacant, &table->vacant_capacity,
                           table->count + table->vacant_count + 1, sizeof *table->vacant,
                           PROCESSES_MAX) < 0 ||
        trk__index_map_set(&table->by_pid, (uint64_t)pid, index) < 0)
        return TRK_NO_PROCESS;
    if (index == table->used)
        table->used++;
    else
        table->vacant_count--;
    table->item[index] = (struct trk_process){
        .pid = pid, .ppid = ppid, .start_ticks = start_ticks, .serial = ++table->serials};
    table->order[table->count++] = index;
    return index;
}

void trk__process_remove(struct trk_process_table *table,
                         bool (*is_done)(void *state, uint32_t index), void *state)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t index = table->order[i];
        struct trk_process *process = &table->item[index];
        if (!is_done(state, index)) {
            table->order[kept++] = index;
            continue;
        }
        /* The PID may belong to a newer process by now. */
        if (trk__process_find(table, process->pid) == index)
            trk__index_map_remove(&table->by_pid, (uint64_t)process->pid);
        *process = (struct trk_process){0};
        table->vacant[table->vacant_count++] = index;
    }
    table->count = kept;
}

uint32_t trk__process_parent(const struct trk_process_table *table, uint32_t index)
{
    const struct trk_process *process = &table->item[index];
    uint32_t parent = trk__process_find(table, process->ppid);
    /* One that is younger has only got the number of the parent. */
    return parent != TRK_NO_PROCESS && table->item[parent].serial < process->serial
               ? parent
               : TRK_NO_PROCESS;
}

uint32_t trk__process_live_count(const struct trk_process_table *table)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < table->count; i++)
        live += trk__process_is_live(&table->item[table->order[i]]);
    return live;
}
