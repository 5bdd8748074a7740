#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int trk__error_set(struct trk_error *error, int code, const char *format, ...)
{
    if (!error)
        return code;
    error->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return code;
}
