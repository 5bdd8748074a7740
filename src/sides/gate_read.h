/* The grammar of gates:
 *
 *   gate   = figure [ "in" phase ] ( ">" | ">=" | "<" | "<=" ) limit
 *   phase  = a word, or any text in double quotes
 *   limit  = amount | "base" [ ( "+" | "-" ) ( number "%" | amount ) ]
 *   amount = number [ unit ]        sizes need their unit
 */
#ifndef TRK_SIDES_GATE_READ_H
#define TRK_SIDES_GATE_READ_H

#include "compare/gate.h"

/* -EINVAL: `error` says what is wrong, where, and what can stand there. */
int trk__gate_parse(const char *text, struct trk_gate *ret_gate, struct trk_error *error);

#endif
