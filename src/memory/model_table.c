#include "base/array.h"
#include "memory/model_state.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 64 };

struct trk__mem_process *trk__mem_process_find(trk_mem_model *model, pid_t pid)
{
    uint32_t slot;
    if (!trk__index_map_get(&model->by_pid, (uint64_t)pid, &slot))
        return NULL;
    return &model->processes[slot];
}

static int resize(void *pointer_to_array, size_t count, size_t item_size)
{
    void **array = pointer_to_array;
    void *larger = trk__reallocarray(*array, count, item_size);
    if (!larger)
        return -ENOMEM;
    *array = larger;
    return 0;
}

/* The lists of slots are as long as the table, so that appending to them cannot fail. */
static int grow(trk_mem_model *model)
{
    uint32_t capacity = model->process_capacity ? model->process_capacity * 2 : SLOTS_FIRST;
    int r = resize(&model->vacant, capacity, sizeof(*model->vacant));
    if (r == 0)
        r = resize(&model->leaving, capacity, sizeof(*model->leaving));
    if (r == 0)
        r = resize(&model->touched, capacity, sizeof(*model->touched));
    if (r == 0)
        r = resize(&model->processes, capacity, sizeof(*model->processes));
    if (r == 0)
        model->process_capacity = capacity;
    return r;
}

int trk__mem_process_add(trk_mem_model *model, pid_t pid, uint32_t *ret_slot)
{
    bool fresh = model->vacant_count == 0;
    if (fresh && model->process_count == model->process_capacity) {
        int r = grow(model);
        if (r < 0)
            return r;
    }
    uint32_t slot = fresh ? model->process_count : model->vacant[model->vacant_count - 1];
    int r = trk__index_map_set(&model->by_pid, (uint64_t)pid, slot);
    if (r < 0)
        return r;
    if (fresh)
        model->process_count++;
    else
        model->vacant_count--;
    model->processes[slot] = (struct trk__mem_process){
        .live = true, .is_new = true, .family = TRK__MEM_NONE, .command = TRK__MEM_NONE};
    model->live_count++;
    *ret_slot = slot;
    return 0;
}

void trk__mem_process_leave(trk_mem_model *model, struct trk__mem_process *process)
{
    uint32_t slot = trk__mem_slot_of(model, process);
    uint32_t named;
    pid_t pid = process->is_new ? process->next.pid : process->last.pid;
    if (trk__index_map_get(&model->by_pid, (uint64_t)pid, &named) && named == slot)
        trk__index_map_remove(&model->by_pid, (uint64_t)pid);
    if (process->family != TRK__MEM_NONE)
        model->families.items[process->family].members_changed = true;
    if (process->command != TRK__MEM_NONE)
        model->commands.items[process->command].members_changed = true;
    trk__mem_group_touch(model, &model->families, process->family);
    trk__mem_group_touch(model, &model->commands, process->command);
    process->family = process->command = TRK__MEM_NONE;
    if (process->shows_parent)
        model->twin_count--;
    process->live = false;
    model->live_count--;
    model->leaving[model->leaving_count++] = slot;
}

void trk__mem_process_table_recycle(trk_mem_model *model)
{
    for (uint32_t i = 0; i < model->leaving_count; i++)
        model->vacant[model->vacant_count++] = model->leaving[i];
    model->leaving_count = 0;
}

void trk__mem_process_table_done(trk_mem_model *model)
{
    free(model->processes);
    free(model->vacant);
    free(model->leaving);
    free(model->touched);
    trk__index_map_done(&model->by_pid);
}
