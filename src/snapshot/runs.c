/* The public face of the store. */
#include "base/error.h"
#include "base/sized.h"
#include "snapshot/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct trk_runs {
    char path[TRK_STORE_PATH_SIZE];
    struct trk_store_list list;
};

int trk_runs_new(const char *folder, trk_runs **ret_runs, struct trk_error *error)
{
    struct trk_runs *runs = calloc(1, sizeof *runs);
    if (!runs)
        return trk__error_set(error, -ENOMEM, "no memory for the list of runs");
    int code = trk__store_path(folder, runs->path);
    if (code < 0)
        trk__error_set(error, code, "no folder of runs: set HOME or XDG_STATE_HOME");
    else
        code = trk__store_list(runs->path, &runs->list, error);
    if (code < 0) {
        free(runs);
        return code;
    }
    *ret_runs = runs;
    return 0;
}

void trk_runs_free(trk_runs *runs)
{
    if (!runs)
        return;
    trk__store_list_done(&runs->list);
    free(runs);
}

size_t trk_runs_count(const trk_runs *runs)
{
    return runs->list.count;
}

int trk_runs_at(const trk_runs *runs, size_t index, struct trk_run_info *ret_info)
{
    if (index >= runs->list.count)
        return -ERANGE;
    return trk__sized_give(ret_info, &runs->list.run[index], sizeof *ret_info);
}

int trk_runs_resolve(const trk_runs *runs, const char *run, char *ret_path, size_t size,
                     struct trk_error *error)
{
    char path[TRK_STORE_PATH_SIZE];
    int code = trk__store_resolve(runs->path, run, path, error);
    if (code < 0)
        return code;
    if (strlen(path) >= size)
        return trk__error_set(error, -ENAMETOOLONG, "%s: the name is too long", path);
    strcpy(ret_path, path);
    return 0;
}

int trk_runs_remove(trk_runs *runs, size_t index, struct trk_error *error)
{
    if (index >= runs->list.count)
        return trk__error_set(error, -ERANGE, "there is no such run");
    const struct trk_run_info *run = &runs->list.run[index];
    if (run->running)
        return trk__error_set(error, -EBUSY, "run %s is still running", run->id);
    return trk__store_remove(runs->path, run->id, error);
}
