#include "base/array.h"
#include "memory/model_state.h"

#include <errno.h>
#include <stdlib.h>

/* An empty group keeps a list this long for its next use; a longer one is freed, so that the lists together
 * stay in proportion to the processes. */
enum { GROUPS_FIRST = 32, HOLDERS_FIRST = 4, HOLDERS_KEPT = 64 };

void trk__mem_groups_done(struct trk__mem_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        free(groups->items[i].holders);
        free(groups->items[i].parted);
    }
    free(groups->items);
    free(groups->vacant);
    trk__index_map_done(&groups->by_key);
    *groups = (struct trk__mem_groups){0};
}

static int grow(struct trk__mem_groups *groups)
{
    uint32_t capacity = groups->capacity ? groups->capacity * 2 : GROUPS_FIRST;
    uint32_t *vacant = trk__reallocarray(groups->vacant, capacity, sizeof(*vacant));
    if (!vacant)
        return -ENOMEM;
    groups->vacant = vacant;
    struct trk__mem_group *items = trk__reallocarray(groups->items, capacity, sizeof(*items));
    if (!items)
        return -ENOMEM;
    groups->items = items;
    groups->capacity = capacity;
    return 0;
}

int trk__mem_groups_get(struct trk__mem_groups *groups, uint64_t key, uint32_t *ret_group)
{
    if (trk__index_map_get(&groups->by_key, key, ret_group))
        return 0;
    bool fresh = groups->vacant_count == 0;
    if (fresh && groups->count == groups->capacity) {
        int r = grow(groups);
        if (r < 0)
            return r;
    }
    uint32_t place = fresh ? groups->count : groups->vacant[groups->vacant_count - 1];
    int r = trk__index_map_set(&groups->by_key, key, place);
    if (r < 0)
        return r;
    struct trk__mem_group *group = &groups->items[place];
    if (fresh) {
        groups->count++;
        *group = (struct trk__mem_group){0};
    } else {
        groups->vacant_count--;
    }
    /* A place that is used again keeps its holders' memory. */
    *group = (struct trk__mem_group){
        .key = key, .live = true, .holders = group->holders, .capacity = group->capacity};
    groups->live_count++;
    *ret_group = place;
    return 0;
}

int trk__mem_group_join(struct trk__mem_group *group, uint32_t slot)
{
    if (group->count == group->capacity) {
        uint32_t capacity = group->capacity ? group->capacity * 2 : HOLDERS_FIRST;
        struct trk__mem_holder *larger =
            trk__reallocarray(group->holders, capacity, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        group->holders = larger;
        group->capacity = capacity;
    }
    group->holders[group->count++] = (struct trk__mem_holder){.slot = slot};
    group->dirty = group->members_changed = true;
    return 0;
}

int trk__mem_group_reserve_parted(struct trk__mem_group *group, uint32_t count)
{
    if (count <= group->parted_capacity)
        return 0;
    struct trk__mem_holder *larger =
        trk__reallocarray(group->parted, group->capacity, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    group->parted = larger;
    group->parted_capacity = group->capacity;
    return 0;
}

void trk__mem_group_leave(struct trk__mem_group *group, uint32_t slot)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < group->count; i++)
        if (group->holders[i].slot != slot)
            group->holders[kept++] = group->holders[i];
    group->count = kept;
    group->members_changed = true;
}

void trk__mem_group_divide(struct trk__mem_group *group, const trk_mem_model *model,
                           double (*what)(const trk_mem_model *, uint32_t slot,
                                          const struct trk__mem_group *))
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        double held_kb = what(model, group->holders[i].slot, group);
        if (held_kb < 0)
            continue;
        group->holders[kept] = group->holders[i];
        group->holders[kept++].held_kb = held_kb;
    }
    group->count = kept;
    trk__nested_sort(group->holders, group->count);
    trk__nested_share(group->holders, group->count);
}

void trk__mem_groups_drop_if_empty(struct trk__mem_groups *groups, uint32_t group)
{
    struct trk__mem_group *dropped = &groups->items[group];
    if (!dropped->live || dropped->count > 0)
        return;
    trk__index_map_remove(&groups->by_key, dropped->key);
    dropped->live = false;
    free(dropped->parted);
    dropped->parted = NULL;
    dropped->parted_capacity = 0;
    if (dropped->capacity > HOLDERS_KEPT) {
        free(dropped->holders);
        dropped->holders = NULL;
        dropped->capacity = 0;
    }
    dropped->pss_kb = dropped->low_kb = dropped->high_kb = dropped->estimated_kb = 0;
    dropped->held_kb = dropped->largest_kb = 0;
    groups->vacant[groups->vacant_count++] = group;
    groups->live_count--;
}
