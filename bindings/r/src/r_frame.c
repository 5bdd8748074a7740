/* Rows as columns of R, filled piece by piece: the core's copy of a piece is small, so that a data frame takes
 * little more memory than its own columns, also while it is made. */
#include "r_binding.h"

#include <math.h>

enum { PIECE_ROWS = 8192 };

struct filling {
    trk_tracker *tracker;
    struct trk_frame_options options;
    trk_frame *piece; /* freed by whoever leaves, R's errors and interrupts included */
    uint64_t rows;
    SEXP columns;
};

static void take_piece(struct filling *filling, uint64_t first, uint64_t count)
{
    struct trk_error error = {0};
    filling->options.first = first;
    filling->options.count = count;
    trk_frame_free(filling->piece);
    filling->piece = NULL;
    if (trk_tracker_frame(filling->tracker, &filling->options, &filling->piece, &error) < 0)
        r_fail(&error);
}

/* Of one table alone there may be more rows than of the shorter one, which is what n_samples counts. */
static uint64_t count_rows(struct filling *filling)
{
    uint64_t sure = trk_tracker_n_samples(filling->tracker);
    take_piece(filling, sure, 0);
    return sure + trk_frame_rows(filling->piece);
}

static void make_columns(struct filling *filling)
{
    size_t count = trk_frame_columns(filling->piece);
    filling->columns = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t i = 0; i < count; i++) {
        SET_VECTOR_ELT(filling->columns, (R_xlen_t)i,
                       Rf_allocVector(REALSXP, (R_xlen_t)filling->rows));
        SET_STRING_ELT(names, (R_xlen_t)i,
                       Rf_mkCharCE(trk_frame_name(filling->piece, i), CE_UTF8));
    }
    Rf_setAttrib(filling->columns, R_NamesSymbol, names);
    UNPROTECT(1);
}

/* Absent is NA, as a person expects of a data frame; NaN would be a result of arithmetic. */
static void copy_piece(const struct filling *filling, uint64_t first)
{
    size_t rows = trk_frame_rows(filling->piece);
    for (R_xlen_t i = 0; i < Rf_xlength(filling->columns); i++) {
        const double *from = trk_frame_values(filling->piece, (size_t)i);
        double *to = REAL(VECTOR_ELT(filling->columns, i)) + first;
        for (size_t row = 0; row < rows; row++)
            to[row] = isnan(from[row]) ? NA_REAL : from[row];
    }
}

static SEXP fill(void *state)
{
    struct filling *filling = state;
    filling->rows = count_rows(filling);
    take_piece(filling, 0, PIECE_ROWS < filling->rows ? PIECE_ROWS : filling->rows);
    make_columns(filling);
    for (uint64_t first = 0; first < filling->rows;) {
        if (first > 0) {
            R_CheckUserInterrupt();
            uint64_t rest = filling->rows - first;
            take_piece(filling, first, PIECE_ROWS < rest ? PIECE_ROWS : rest);
        }
        copy_piece(filling, first);
        first += PIECE_ROWS;
    }
    UNPROTECT(1);
    return filling->columns;
}

static void leave(void *state)
{
    struct filling *filling = state;
    trk_frame_free(filling->piece);
}

static const char *prefix(SEXP value)
{
    return Rf_isNull(value) ? NULL : Rf_translateCharUTF8(STRING_ELT(value, 0));
}

SEXP r_tracker_frame(SEXP pointer, SEXP rows, SEXP bytes, SEXP human_names, SEXP system_prefix,
                     SEXP process_prefix)
{
    struct filling filling = {.tracker = r_tracker(pointer)};
    trk_frame_options_init(&filling.options);
    filling.options.rows = (enum trk_rows)Rf_asInteger(rows);
    filling.options.bytes = Rf_asLogical(bytes) == TRUE;
    filling.options.human_names = Rf_asLogical(human_names) == TRUE;
    filling.options.system_prefix = prefix(system_prefix);
    filling.options.process_prefix = prefix(process_prefix);
    return R_ExecWithCleanup(fill, &filling, leave, &filling);
}
