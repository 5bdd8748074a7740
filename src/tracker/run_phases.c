/* The public face of phases: of a record, of a run that goes on, of a session at its end. */
#include "base/error.h"
#include "base/sized.h"
#include "session/session.h"
#include "snapshot/phases.h"
#include "snapshot/store.h"
#include "tracker/table_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trk_phases {
    struct trk_phase_list list;
};

/* Marks lie beside a growing file, under the same name with another suffix. */
static int add_events(const char *rows_path, struct trk_snapshot *snapshot)
{
    static const char suffix[] = ".rows";
    char folder[TRK_STORE_PATH_SIZE + TRK_RUN_ID_SIZE + 16], name[TRK_RUN_ID_SIZE + 16];
    const char *slash = strrchr(rows_path, '/');
    size_t len = strlen(rows_path), tail = sizeof suffix - 1;
    if (!slash || len < tail || strcmp(rows_path + len - tail, suffix) != 0)
        return 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - rows_path), rows_path);
    snprintf(name, sizeof name, "%.*s.events", (int)(rows_path + len - tail - slash - 1),
             slash + 1);
    return trk__store_read_events(folder, name, snapshot);
}

int trk_phases_new(const char *path, trk_phases **ret_phases, struct trk_error *error)
{
    struct trk_snapshot *snapshot;
    int code = trk__table_read(path, &snapshot, error);
    if (code < 0)
        return code;
    trk_phases *phases = calloc(1, sizeof *phases);
    code = phases ? add_events(path, snapshot) : -ENOMEM;
    if (code == 0)
        code = trk__phases_find(snapshot, &phases->list);
    trk__snapshot_free(snapshot);
    if (code < 0) {
        free(phases);
        return trk__error_set(error, code, "%s: its marks can't be read: %s", path,
                              strerror(-code));
    }
    *ret_phases = phases;
    return 0;
}

int trk_session_phases(const trk_session *session, trk_phases **ret_phases, struct trk_error *error)
{
    char events[sizeof session->recorder->rows_path + 8];
    const struct trk_recorder *recorder = session->recorder;
    if (recorder && *recorder->id)
        snprintf(events, sizeof events, "%s/%s.events", recorder->folder, recorder->id);
    if (recorder && *recorder->id && recorder->fd >= 0 && access(events, F_OK) == 0)
        return trk_phases_new(recorder->rows_path, ret_phases, error);
    *ret_phases = calloc(1, sizeof **ret_phases);
    return *ret_phases ? 0 : trk__error_set(error, -ENOMEM, "out of memory");
}

void trk_phases_free(trk_phases *phases)
{
    if (!phases)
        return;
    trk__phases_done(&phases->list);
    free(phases);
}

int trk_phases_at(const trk_phases *phases, size_t index, struct trk_phase_info *ret_info)
{
    if (index >= phases->list.count)
        return -ERANGE;
    return trk__sized_give(ret_info, &phases->list.item[index], sizeof *ret_info);
}
