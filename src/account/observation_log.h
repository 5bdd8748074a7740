/* The stream of observations: to the account, and to a log where one is wanted.
 *
 * A log is text: a line for each observation, "kind pid at_ns name=value ...", after a line with the options of the
 * account. Fields that are 0 are left out. */
#ifndef TRK_ACCOUNT_OBSERVATION_LOG_H
#define TRK_ACCOUNT_OBSERVATION_LOG_H

#include "account/account.h"
#include "base/buffer.h"
#include "base/parse.h"

struct trk_stream {
    struct trk_account *account;
    int log_fd;             /* -1: no log is written */
    int failure;            /* of the log: the first */
    struct trk_buffer text; /* of the log, not written yet */
};

void trk__stream_init(struct trk_stream *stream, struct trk_account *account);

/* From now on everything is written to `fd`, which it owns. */
void trk__stream_log_to(struct trk_stream *stream, int fd);

/* Starts the account. */
int trk__stream_start(struct trk_stream *stream, const struct trk_account_options *options);
void trk__stream_done(struct trk_stream *stream);

/* Passes an observation to the account. */
void trk__observe(struct trk_stream *stream, const struct trk_observation *observation);

/* A boundary. `pid` as in the comment of the step; else 0. */
void trk__observe_step(struct trk_stream *stream, enum trk_step step, pid_t pid, int64_t at_ns);

/* The text form. */
void trk__observation_put(struct trk_buffer *text, const struct trk_observation *observation);
void trk__account_options_put(struct trk_buffer *text, const struct trk_account_options *options);

/* One line; -EINVAL where it is none. */
int trk__observation_parse(struct trk_cursor line, struct trk_observation *ret_observation);
int trk__account_options_parse(struct trk_cursor line, struct trk_account_options *ret_options);

#endif
