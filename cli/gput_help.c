#include "gput_help.h"

#include "gput_options.h"

#include <string.h>

enum { LINE_COLUMNS = 80, INDENT = 4, TEXT_COLUMN = 28 };

static bool is_shown(const struct gput_option *option, enum trk_gpu_compat release)
{
    return release == TRK_GPU_COMPAT_5 || option->since < 5;
}

/* "-e --execute=COMMAND", as wide as it is. */
static void name_option(const struct gput_option *option, char *ret_text, size_t size)
{
    int len = 0;
    *ret_text = '\0';
    if (option->short_name)
        len = snprintf(ret_text, size, "-%c%s", option->short_name, option->long_name ? " " : "");
    if (option->long_name)
        len += snprintf(ret_text + len, size - (size_t)len, "--%s", option->long_name);
    if (option->argument)
        snprintf(ret_text + len, size - (size_t)len, "%s<%s>", option->long_name ? "=" : " ",
                 option->argument);
}

static void print_synopsis(FILE *out, const char *words, unsigned command,
                           enum trk_gpu_compat release)
{
    size_t column = (size_t)fprintf(out, "%*sgpu-tracker%s", INDENT, "", words);
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        const struct gput_option *option = &gput_option_table[i];
        char name[64];
        if (!(option->commands & command) || option->commands == GPUT_ANY ||
            !is_shown(option, release))
            continue;
        if (option->long_name)
            snprintf(name, sizeof name, "--%s%s%s%s", option->long_name,
                     option->argument ? "=<" : "", option->argument ? option->argument : "",
                     option->argument ? ">" : "");
        else
            snprintf(name, sizeof name, "-%c <%s>...", option->short_name, option->argument);
        bool needed = strcmp(name, "--execute=<COMMAND>") == 0 ||
                      option->commands == GPUT_COMBINE ||
                      (option->long_name && strcmp(option->long_name, "stf") == 0) ||
                      (command == GPUT_ANALYZE && strcmp(name, "--tf=<FILE>") == 0);
        if (column + strlen(name) + 3 > LINE_COLUMNS)
            column = (size_t)fprintf(out, "\n%*s", 2 * INDENT, "") - 1;
        column += (size_t)fprintf(out, needed ? " %s" : " [%s]", name);
    }
    fputc('\n', out);
}

void gput_usage_print(FILE *out, enum trk_gpu_compat release)
{
    fputs("Usage:\n", out);
    print_synopsis(out, "", GPUT_TRACK, release);
    if (release == TRK_GPU_COMPAT_5) {
        print_synopsis(out, " sub-track combine", GPUT_COMBINE, release);
        print_synopsis(out, " sub-track analyze", GPUT_ANALYZE, release);
        print_synopsis(out, " sub-track compare", GPUT_COMPARE, release);
    }
    fprintf(out, "%*sgpu-tracker -h | --help\n", INDENT, "");
    fprintf(out, "%*sgpu-tracker -v | --version\n", INDENT, "");
}

static void print_option(FILE *out, const struct gput_option *option)
{
    char name[48];
    name_option(option, name, sizeof name);
    size_t column = (size_t)fprintf(out, "%*s%s", INDENT, "", name);
    for (const char *text = option->help; *text;) {
        size_t len = strlen(text), room = LINE_COLUMNS - TEXT_COLUMN;
        fprintf(out, "%*s", (int)(column < TEXT_COLUMN ? TEXT_COLUMN - column : 1), "");
        if (len > room)
            for (len = room; len && text[len] != ' ';)
                len--;
        fprintf(out, "%.*s\n", (int)len, text);
        text += len + (text[len] == ' ');
        column = 0;
    }
}

void gput_help_print(FILE *out, enum trk_gpu_compat release)
{
    bool is_5 = release == TRK_GPU_COMPAT_5;
    fprintf(out,
            "Runs a command and tells what it used: RAM, GPU RAM, compute time%s\n"
            "of the command itself, of its descendants and of both together.\n\n",
            is_5 ? ", CPU, GPU," : ",");
    gput_usage_print(out, release);
    fputs("\nOptions:\n", out);
    for (int i = 0; i < GPUT_OPTION_COUNT; i++)
        if (is_shown(&gput_option_table[i], release))
            print_option(out, &gput_option_table[i]);
    fputs("\nThe command is split into words as a shell splits it by quotes and backslashes;\n"
          "nothing is expanded. The exit status is the command's; 125 for an error of\n"
          "gpu-tracker, 126 for a command that can't be run, 127 for one that is not found.\n",
          out);
    if (!is_5)
        fputs("With --compat 5: the options of later releases, tracking files, sub-track.\n", out);
}
