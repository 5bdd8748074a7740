/* Hooks of the record in a session's life; each does nothing where none is kept. What goes wrong is a note: a run
 * is measured whether it can be kept or not. */
#ifndef TRK_SESSION_RECORD_H
#define TRK_SESSION_RECORD_H

#include "resource_tracker.h"

void trk__session_record_open(struct trk_session *session, const struct trk_options *options);

/* What is tracked is known; 0: the machine. Where somebody waits for the growing file, or starting is in no haste,
 * it is there when this returns, unless it can't be made. */
void trk__session_record_start(struct trk_session *session, pid_t root_pid);

/* After a look before the first row: the file is made once the run is worth one. */
void trk__session_record_peek(struct trk_session *session);

/* Takes session->row. */
void trk__session_record_row(struct trk_session *session);

/* What is known of the machine, as an object. */
struct trk_json;
void trk__session_put_server(struct trk_json *json, const struct trk_session *session);

/* Which cloud it is in, as an object; null: that was not asked. Waits for nobody. */
void trk__session_put_cloud(struct trk_json *json, const struct trk_session *session);

/* The processes that are known one by one, by CPU time, and behind them the rest by command. */
enum { TRK_RECORD_PROCESSES_MAX = 1000 };
void trk__session_put_processes(struct trk_json *json, const struct trk_session *session);

/* Whether the answer is there. */
bool trk__session_knows_cloud(const struct trk_session *session);

#endif
