/* Writes the man page and the shell completions of gpu-tracker from its option table, at build time.
 *
 *   gen_gput_docs man TEMPLATE    the template with its @MARKS@ replaced
 *   gen_gput_docs bash|zsh|fish   a completion script
 */
#include "doc_quote.h"
#include "gput_options.h"

#include <stdio.h>
#include <string.h>

/* What values may be offered; NULL: none. */
static const char *values_of(const struct gput_option *option)
{
    static const struct {
        const char *name, *values;
    } known[] = {
        {"format", "text json"},
        {"ru", "bytes kilobytes megabytes gigabytes terabytes"},
        {"gru", "bytes kilobytes megabytes gigabytes terabytes"},
        {"tu", "seconds minutes hours days"},
        {"gb", "nvidia amd"},
        {"stat", "min max mean std"},
        {"compat", "1 5"},
    };
    for (size_t i = 0; option->long_name && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, option->long_name) == 0)
            return known[i].values;
    return NULL;
}

static bool is_file(const struct gput_option *option)
{
    return option->argument &&
           (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0);
}

/* ---- man page ---- */

static void print_man_option(const struct gput_option *option)
{
    fputs(".TP\n", stdout);
    if (option->short_name)
        printf("\\fB\\-%c\\fR%s", option->short_name, option->long_name ? ", " : "");
    if (option->long_name) {
        fputs("\\fB\\-\\-", stdout);
        print_roff(option->long_name);
        fputs("\\fR", stdout);
    }
    if (option->argument) {
        printf("%s\\fI", option->long_name ? "=" : " ");
        print_roff(option->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(option->help);
    fputs(option->since == 5 && option->commands & GPUT_TRACK ? ". Needs \\fB\\-\\-compat 5\\fR.\n"
                                                              : ".\n",
          stdout);
}

static int print_man(const char *template_path)
{
    FILE *template = template_path ? fopen(template_path, "re") : NULL;
    char line[512];
    if (!template)
        return 1;
    while (fgets(line, sizeof line, template)) {
        if (strncmp(line, "@TITLE@ ", 8) == 0)
            printf(".TH GPU\\-TRACKER 1 \"%.10s\" \"resource\\-tracker %s\" \"User Commands\"\n",
                   line + 8, TRK_VERSION);
        else if (strcmp(line, "@OPTIONS@\n") != 0)
            fputs(line, stdout);
        else
            for (int i = 0; i < GPUT_OPTION_COUNT; i++)
                print_man_option(&gput_option_table[i]);
    }
    int failed = ferror(template);
    fclose(template);
    return failed;
}

/* ---- bash ---- */

static void print_names(const struct gput_option *option, const char *joint)
{
    if (option->long_name)
        printf("--%s", option->long_name);
    if (option->short_name)
        printf("%s-%c", option->long_name ? joint : "", option->short_name);
}

static int print_bash(void)
{
    fputs("# bash completion for gpu-tracker; generated from its option table.\n\n"
          "_gpu_tracker()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words reply\n"
          "    [[ $cur == = ]] && cur=\n"
          "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    case $prev in\n",
          stdout);
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        const struct gput_option *option = &gput_option_table[i];
        if (!option->argument)
            continue;
        fputs("    ", stdout);
        print_names(option, "|");
        if (is_file(option))
            fputs(") compopt -o filenames 2>/dev/null; words=$(compgen -f -- \"$cur\") ;;\n",
                  stdout);
        else if (values_of(option))
            printf(") words=$(compgen -W '%s' -- \"$cur\") ;;\n", values_of(option));
        else
            fputs(") words= ;;\n", stdout);
    }
    fputs("    sub-track) words=$(compgen -W 'combine analyze compare' -- \"$cur\") ;;\n"
          "    *) words=$(compgen -W '",
          stdout);
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        print_names(&gput_option_table[i], " ");
        putchar(' ');
    }
    fputs("sub-track' -- \"$cur\") ;;\n"
          "    esac\n"
          "    while IFS= read -r reply; do\n"
          "        [[ $reply ]] && COMPREPLY+=(\"$reply\")\n"
          "    done <<< \"$words\"\n"
          "}\ncomplete -F _gpu_tracker gpu-tracker\n",
          stdout);
    return 0;
}

/* ---- zsh ---- */

static int print_zsh(void)
{
    fputs("#compdef gpu-tracker\n"
          "# zsh completion for gpu-tracker; generated from its option table.\n\n"
          "_arguments -s -S : \\\n",
          stdout);
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        const struct gput_option *option = &gput_option_table[i];
        const char *value = option->argument ? "=" : "";
        if (option->long_name && option->short_name)
            printf("  '(-%c --%s)'{-%c%s,--%s%s}'[", option->short_name, option->long_name,
                   option->short_name, option->argument ? "+" : "", option->long_name, value);
        else if (option->long_name)
            printf("  '--%s%s[", option->long_name, value);
        else
            printf("  '*-%c+[", option->short_name);
        print_zsh_text(option->help);
        putchar(']');
        if (option->argument)
            printf(":%s:", option->argument);
        if (is_file(option))
            fputs("_files", stdout);
        else if (values_of(option))
            printf("(%s)", values_of(option));
        fputs("' \\\n", stdout);
    }
    fputs("  '1:command:(sub-track)' '2:command:(combine analyze compare)'\n", stdout);
    return 0;
}

/* ---- fish ---- */

static int print_fish(void)
{
    fputs("# fish completion for gpu-tracker; generated from its option table.\n\n"
          "complete -c gpu-tracker -n __fish_use_subcommand -xa sub-track "
          "-d 'work on the files of code blocks'\n"
          "complete -c gpu-tracker -n '__fish_seen_subcommand_from sub-track' "
          "-xa 'combine analyze compare'\n",
          stdout);
    for (int i = 0; i < GPUT_OPTION_COUNT; i++) {
        const struct gput_option *option = &gput_option_table[i];
        fputs("complete -c gpu-tracker", stdout);
        if (option->long_name)
            printf(" -l %s", option->long_name);
        if (option->short_name)
            printf(" -s %c", option->short_name);
        fputs(is_file(option) ? " -rF" : option->argument ? " -x" : " -f", stdout);
        if (values_of(option))
            printf(" -a '%s'", values_of(option));
        fputs(" -d ", stdout);
        print_fish_text(option->help);
        putchar('\n');
    }
    return 0;
}

int main(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "";
    int failed = strcmp(what, "man") == 0    ? print_man(argv[2])
                 : strcmp(what, "bash") == 0 ? print_bash()
                 : strcmp(what, "zsh") == 0  ? print_zsh()
                 : strcmp(what, "fish") == 0 ? print_fish()
                                             : 1;
    if (failed)
        fputs("usage: gen_gput_docs man TEMPLATE | bash | zsh | fish\n", stderr);
    return failed || fflush(stdout) != 0;
}
