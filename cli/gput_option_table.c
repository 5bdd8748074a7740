/* The rows of gput_options.def as data. Needs nothing of the library: the generator of the man page and the
 * completions is built from it before there is one. */
#include "gput_options.h"

#define KIND_OF(field)                                                                             \
    _Generic(((struct gput_options *)0)->field,                                                    \
        bool: GPUT_KIND_FLAG,                                                                      \
        struct gput_list: GPUT_KIND_LIST,                                                          \
        const char *: GPUT_KIND_TEXT)

#define TRACK GPUT_TRACK
#define COMBINE GPUT_COMBINE
#define ANALYZE GPUT_ANALYZE
#define COMPARE GPUT_COMPARE
#define ANY GPUT_ANY
#define OPTION(long_, short_, argument_, commands_, since_, field_, help_)                         \
    {.long_name = long_,                                                                           \
     .short_name = short_,                                                                         \
     .argument = argument_,                                                                        \
     .commands = commands_,                                                                        \
     .since = since_,                                                                              \
     .kind = KIND_OF(field_),                                                                      \
     .offset = offsetof(struct gput_options, field_),                                              \
     .help = help_},
const struct gput_option gput_option_table[GPUT_OPTION_COUNT] = {
#include "gput_options.def"
};
