/* A locale that writes 1.5 as 1,5. It is made for the test: few machines have one. */
#ifndef TRK_TESTS_COMMA_LOCALE_H
#define TRK_TESTS_COMMA_LOCALE_H

#include "check.h"
#include "fake_root.h"

#include <locale.h>

static inline void comma_locale_begin_or_skip(void)
{
    struct fake_root root;
    char command[256];
    fake_root_init(&root);
    fake_root_write(&root, "source",
                    "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
                    "grouping -1\nEND LC_NUMERIC\n");
    snprintf(command, sizeof command, "localedef -c -i %s/source %s/comma >%s/log 2>&1", root.path,
             root.path, root.path);
    (void)!system(command); /* it warns of each category that the source lacks, and fails then */
    setenv("LOCPATH", root.path, 1);
    const char *name = setlocale(LC_NUMERIC, "comma");
    fake_root_done(&root);
    if (!name)
        SKIP("localedef cannot make a locale with a decimal comma");
    char text[8];
    snprintf(text, sizeof text, "%.1f", 1.5);
    CHECK_TEXT(text, "1,5");
}

static inline void comma_locale_end(void)
{
    setlocale(LC_NUMERIC, "C");
}

#endif
