/* Writes the man page and the shell completions from the option table: built and run at build time.
 *
 *   gen_docs man TEMPLATE    the template with its @MARKS@ replaced
 *   gen_docs bash|zsh|fish   a completion script
 */
#include "doc_quote.h"
#include "options.h"

#include <stdio.h>
#include <string.h>

static bool is_public(const struct cli_option *option)
{
    return option->group != CLI_GROUP_TESTING;
}

/* The commands that are called by their name. */
static void print_command_names(const char *joint)
{
    for (int i = CLI_COMMAND_RUN + 1; i < CLI_COMMAND_COUNT; i++)
        printf("%s%s", i > CLI_COMMAND_RUN + 1 ? joint : "", cli_commands[i].name);
}

/* What stands behind a command, for the shells. */
static const char *const run_actions = "list ls remove prune";

static bool takes_files(int command)
{
    return command == CLI_COMMAND_REPORT || command == CLI_COMMAND_RECOMMEND ||
           command == CLI_COMMAND_CONVERT || command == CLI_COMMAND_SHOW ||
           command == CLI_COMMAND_EXPORT;
}

/* ---- man page -------------------------------------------------------------------------- */

static void print_man_choices(const struct cli_option *option)
{
    for (const struct cli_choice *choice = option->choices; choice && choice->name; choice++)
        printf("%s\\fB%s\\fR", choice == option->choices ? ": " : ", ", choice->name);
}

static void print_man_commands(const struct cli_option *option)
{
    if ((option->commands & CLI_FOR_ALL) == CLI_FOR_ALL)
        return;
    fputs("Only with", stdout);
    const char *joint = " ";
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        if (!(option->commands & (1u << i)))
            continue;
        printf("%s\\fB%s\\fR", joint, cli_commands[i].name);
        joint = " and ";
    }
    fputs(".\n", stdout);
}

static void print_man_option(const struct cli_option *option)
{
    fputs(".TP\n\\fB", stdout);
    if (option->short_name)
        printf("\\-%c\\fR, \\fB", option->short_name);
    fputs("\\-\\-", stdout);
    print_roff(option->long_name);
    fputs("\\fR", stdout);
    if (option->argument)
        printf(" \\fI%s\\fR", option->argument);
    putchar('\n');
    print_roff(option->help);
    print_man_choices(option);
    if (option->default_text) {
        fputs(" (default: ", stdout);
        print_roff(option->default_text);
        putchar(')');
    }
    fputs(".\n", stdout);
    print_man_commands(option);
}

static void print_man_options(void)
{
    for (int group = 0; group < CLI_GROUP_COUNT; group++) {
        printf(".SS %s\n", cli_group_titles[group]);
        for (int i = 0; i < CLI_OPTION_COUNT; i++)
            if ((int)cli_option_table[i].group == group)
                print_man_option(&cli_option_table[i]);
    }
}

static void print_man_variables(void)
{
    const char *request = ".TP"; /* one paragraph with all the names for its tag */
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (option->sources == CLI_SOURCES_TYPED)
            continue;
        char name[CLI_VARIABLE_SIZE];
        cli_option_variable(option, name);
        printf("%s\n\\fB%s\\fR\n", request, name);
        request = ".TQ";
    }
}

static void print_man_line(const char *line)
{
    if (strcmp(line, "@OPTIONS@\n") == 0)
        print_man_options();
    else if (strcmp(line, "@VARIABLES@\n") == 0)
        print_man_variables();
    else if (strncmp(line, "@TITLE@ ", 8) == 0) /* the day that the text was last changed */
        printf(".TH RESOURCE\\-TRACKER 1 \"%.10s\" \"resource\\-tracker %s\" \"User Commands\"\n",
               line + 8, TRK_VERSION);
    else
        fputs(line, stdout);
}

static int print_man(const char *template_path)
{
    FILE *template = template_path ? fopen(template_path, "re") : NULL;
    if (!template)
        return 1;
    char line[512];
    while (fgets(line, sizeof line, template))
        print_man_line(line);
    int failed = ferror(template);
    fclose(template);
    return failed;
}

/* ---- bash ------------------------------------------------------------------------------ */

static void print_bash_words(unsigned command)
{
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (!is_public(option) || !(option->commands & command))
            continue;
        printf("--%s ", option->long_name);
        if (option->short_name)
            printf("-%c ", option->short_name);
    }
}

/* -o|--output */
static void print_option_pattern(const struct cli_option *option, const char *joint)
{
    if (option->short_name)
        printf("-%c%s", option->short_name, joint);
    printf("--%s", option->long_name);
}

static void print_bash_values(const struct cli_option *option)
{
    fputs("    ", stdout);
    print_option_pattern(option, "|");
    if (option->type == CLI_TYPE_PATH) {
        fputs(") compopt -o filenames 2>/dev/null; _resource_tracker_offer -f", stdout);
    } else if (option->choices) {
        fputs(") _resource_tracker_offer -W '", stdout);
        for (const struct cli_choice *choice = option->choices; choice->name; choice++)
            printf("%s%s", choice == option->choices ? "" : " ", choice->name);
        putchar('\'');
    } else {
        fputs(") ;;\n", stdout);
        return;
    }
    fputs(" ;;\n", stdout);
}

/* The options whose next word is a value, as a pattern of a case. */
static void print_with_value(const char *joint)
{
    bool is_first = true;
    for (int i = 0; i < CLI_OPTION_COUNT; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (!is_public(option) || !option->argument)
            continue;
        fputs(is_first ? "" : joint, stdout);
        print_option_pattern(option, joint);
        is_first = false;
    }
}

static void print_bash_functions(void)
{
    fputs("# Adds what compgen makes of the words, one reply a line.\n"
          "_resource_tracker_offer()\n{\n"
          "    local reply\n"
          "    while IFS= read -r reply; do COMPREPLY+=(\"$reply\"); done < <(compgen \"$@\" -- "
          "\"$cur\")\n"
          "}\n\n"
          "# Completes the value of option $1.\n"
          "_resource_tracker_value()\n{\n    case $1 in\n",
          stdout);
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (is_public(&cli_option_table[i]) && cli_option_table[i].argument)
            print_bash_values(&cli_option_table[i]);
    fputs("    esac\n}\n\n", stdout);
}

/* Sets i to the word where the options end, beyond the current one where that is a value. */
static void print_bash_scan(void)
{
    fputs("    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n"
          "        --) ((i++)); break ;;\n"
          "        ",
          stdout);
    print_with_value("|");
    fputs(")\n"
          "            ((i++)) # name=value comes as three words\n"
          "            [[ ${COMP_WORDS[i]} == = ]] && ((i++)) ;;\n"
          "        -*) ;;\n        ",
          stdout);
    print_command_names("|");
    fputs(")\n"
          "            [[ $command != run ]] || { command=${COMP_WORDS[i]}; continue; } ;;&\n"
          "        *) # what is behind a program's name is the program's\n"
          "            [[ $command != run && $command != mark ]] || break\n"
          "            ((operands++ == 0)) && action=${COMP_WORDS[i]} ;;\n"
          "        esac\n"
          "    done\n",
          stdout);
}

static void print_bash_options(void)
{
    fputs("        case $command in\n", stdout);
    for (int i = 0; i < CLI_COMMAND_COUNT; i++) {
        printf("        %s) _resource_tracker_offer -W '", cli_commands[i].name);
        print_bash_words(1u << i);
        fputs("' ;;\n", stdout);
    }
    fputs("        esac\n", stdout);
}

static void print_bash_main(void)
{
    fputs("_resource_tracker()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=run i\n"
          "    local operands=0 action=\n",
          stdout);
    print_bash_scan();
    fputs("    if ((i > COMP_CWORD)); then\n"
          "        [[ $cur == = ]] && cur=\n"
          "        [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "        _resource_tracker_value \"$prev\"\n"
          "    elif ((i == COMP_CWORD)) && [[ $cur == -* && $prev != -- ]]; then\n",
          stdout);
    print_bash_options();
    fputs("    elif [[ $command == attach ]]; then\n"
          "        _resource_tracker_offer -W \"$(cd /proc && echo [0-9]*)\"\n"
          "    elif [[ $command == report || $command == recommend || $command == convert ||\n"
          "            $command == show || $command == export ]]; then\n"
          "        compopt -o filenames 2>/dev/null; _resource_tracker_offer -f\n"
          "    elif [[ $command == runs ]]; then\n",
          stdout);
    printf("        ((operands == 0)) && _resource_tracker_offer -W '%s'\n", run_actions);
    fputs("    elif [[ $command == catalog ]]; then\n"
          "        ((operands == 0)) && _resource_tracker_offer -W update\n"
          "    elif [[ $command == run ]]; then\n"
          "        if declare -F _command_offset >/dev/null; then\n"
          "            _command_offset \"$i\"\n"
          "        else\n"
          "            ((i == COMP_CWORD)) && _resource_tracker_offer -c\n"
          "            _resource_tracker_offer -f\n"
          "        fi\n"
          "        ((i == COMP_CWORD)) && _resource_tracker_offer -W '",
          stdout);
    print_command_names(" ");
    fputs("'\n    fi\n}\ncomplete -F _resource_tracker resource-tracker\n", stdout);
}

static int print_bash(void)
{
    fputs("# bash completion for resource-tracker; generated from its option table.\n\n", stdout);
    print_bash_functions();
    print_bash_main();
    return 0;
}

/* ---- zsh ------------------------------------------------------------------------------- */

static void print_zsh_option(const struct cli_option *option)
{
    fputs("  ", stdout);
    if (option->short_name)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'[", option->short_name, option->long_name,
               option->short_name, option->argument ? "+" : "", option->long_name,
               option->argument ? "=" : "");
    else
        printf("'--%s%s[", option->long_name, option->argument ? "=" : "");
    print_zsh_text(option->help);
    putchar(']');
    if (option->argument) {
        putchar(':');
        print_zsh_text(option->argument); /* one of them has a colon: FORMAT:FILE */
        putchar(':');
    }
    if (option->type == CLI_TYPE_PATH)
        fputs("_files", stdout);
    for (const struct cli_choice *choice = option->choices; choice && choice->name; choice++)
        printf("%s%s%s", choice == option->choices ? "(" : " ", choice->name,
               choice[1].name ? "" : ")");
    fputs("'\n", stdout);
}

static void print_zsh_array(unsigned command, const char *name)
{
    printf("%s=(\n", name);
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (is_public(&cli_option_table[i]) && (cli_option_table[i].commands & command))
            print_zsh_option(&cli_option_table[i]);
    fputs(")\n", stdout);
}

/* Sets `command`, which options may precede, and takes its word out of the line. */
static void print_zsh_scan(void)
{
    fputs("local command=run\n"
          "integer i\n"
          "for ((i = 2; i < CURRENT; i++)); do\n"
          "  case ${words[i]} in\n"
          "  ",
          stdout);
    print_with_value("|");
    fputs(") ((i++)) ;;\n  ", stdout);
    print_command_names("|");
    fputs(") command=${words[i]} words[i]=(); ((CURRENT--)); break ;;\n"
          "  --|[^-]*) break ;;\n"
          "  esac\n"
          "done\n\n",
          stdout);
}

static void print_zsh_case(int command)
{
    const char *name = cli_commands[command].name;
    printf("%s) _arguments -s -S : $%s", name, name);
    if (command == CLI_COMMAND_ATTACH)
        fputs(" '1:PID:_pids'", stdout);
    else if (command == CLI_COMMAND_RUNS)
        printf(" '1:action:(%s)'", run_actions);
    else if (command == CLI_COMMAND_CATALOG)
        fputs(" '1:action:(update)'", stdout);
    else if (takes_files(command))
        fputs(" '*:file:_files'", stdout);
    fputs(" ;;\n", stdout);
}

static int print_zsh(void)
{
    fputs("#compdef resource-tracker\n"
          "# zsh completion for resource-tracker; generated from its option table.\n\n"
          "_resource_tracker_commands() {\n"
          "  _alternative 'commands:command:(",
          stdout);
    print_command_names(" ");
    fputs(")' 'programs:program:_command_names -e'\n"
          "}\n\n",
          stdout);
    print_zsh_scan();
    fputs("local -a line run", stdout);
    for (int i = CLI_COMMAND_RUN + 1; i < CLI_COMMAND_COUNT; i++)
        printf(" %s", cli_commands[i].name);
    putchar('\n');
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        print_zsh_array(1u << i, cli_commands[i].name);
    fputs("\ncase $command in\n", stdout);
    for (int i = CLI_COMMAND_RUN + 1; i < CLI_COMMAND_COUNT; i++)
        print_zsh_case(i);
    fputs("*) _arguments -s -S -A '-*' : $run '1:command:_resource_tracker_commands' "
          "'*::argument:_normal' ;;\n"
          "esac\n",
          stdout);
    return 0;
}

/* ---- fish ------------------------------------------------------------------------------ */

/* The first line that the scan prints is the command, "run" where none is named yet and "job" behind a program's name;
 * the others are the job's words. */
static void print_fish_functions(void)
{
    fputs("function __resource_tracker_scan\n"
          "    set --local words (commandline -opc)[2..-1]\n"
          "    while set -q words[1]\n"
          "        switch $words[1]\n"
          "            case --\n"
          "                printf '%s\\n' job $words[2..-1]\n"
          "                return\n"
          "            case ",
          stdout);
    print_with_value(" ");
    fputs("\n"
          "                set words $words[2..-1]\n"
          "            case '-*'\n"
          "            case ",
          stdout);
    print_command_names(" ");
    fputs("\n"
          "                echo $words[1]\n"
          "                return\n"
          "            case '*'\n"
          "                printf '%s\\n' job $words\n"
          "                return\n"
          "        end\n"
          "        set words $words[2..-1]\n"
          "    end\n"
          "    echo run\n"
          "end\n\n"
          "function __resource_tracker_is\n"
          "    set --local found (__resource_tracker_scan)\n"
          "    contains -- $found[1] $argv\n"
          "end\n\n"
          "function __resource_tracker_job\n"
          "    set --local found (__resource_tracker_scan)\n"
          "    if set -q found[2]\n"
          "        complete -C (string join ' ' -- (string escape -- $found[2..-1]) (commandline "
          "-ct))\n"
          "    else\n"
          "        __fish_complete_command\n"
          "    end\n"
          "end\n\n",
          stdout);
}

static void print_fish_option(const struct cli_option *option)
{
    printf("complete -c resource-tracker -l %s", option->long_name);
    if (option->short_name)
        printf(" -s %c", option->short_name);
    fputs(" -n '__resource_tracker_is", stdout);
    for (int i = 0; i < CLI_COMMAND_COUNT; i++)
        if (option->commands & (1u << i))
            printf(" %s", cli_commands[i].name);
    putchar('\'');
    if (option->type == CLI_TYPE_PATH)
        fputs(" -rF", stdout);
    else if (option->argument)
        fputs(" -x", stdout);
    for (const struct cli_choice *choice = option->choices; choice && choice->name; choice++)
        printf("%s%s%s", choice == option->choices ? " -a '" : " ", choice->name,
               choice[1].name ? "" : "'");
    fputs(" -d ", stdout);
    print_fish_text(option->help);
    putchar('\n');
}

static void print_fish_actions(void)
{
    static const char words[] = "complete -c resource-tracker -n '__resource_tracker_is";
    printf("%s runs; and not __fish_seen_subcommand_from %s' -xa '%s'\n", words, run_actions,
           run_actions);
    printf("%s runs catalog system info mark' -f\n", words);
    printf("%s catalog' -xa update\n", words);
    printf("%s attach' -xa '(__fish_complete_pids)'\n", words);
}

static int print_fish(void)
{
    fputs("# fish completion for resource-tracker; generated from its option table.\n\n", stdout);
    print_fish_functions();
    fputs("complete -c resource-tracker -n '__resource_tracker_is run job' -xa "
          "'(__resource_tracker_job)'\n",
          stdout);
    for (int i = CLI_COMMAND_RUN + 1; i < CLI_COMMAND_COUNT; i++) {
        printf("complete -c resource-tracker -n '__resource_tracker_is run' -xa %s -d ",
               cli_commands[i].name);
        print_fish_text(cli_commands[i].purpose);
        putchar('\n');
    }
    print_fish_actions();
    for (int i = 0; i < CLI_OPTION_COUNT; i++)
        if (is_public(&cli_option_table[i]))
            print_fish_option(&cli_option_table[i]);
    return 0;
}

int main(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "";
    int failed = 1;
    if (strcmp(what, "man") == 0)
        failed = print_man(argv[2]);
    else if (strcmp(what, "bash") == 0)
        failed = print_bash();
    else if (strcmp(what, "zsh") == 0)
        failed = print_zsh();
    else if (strcmp(what, "fish") == 0)
        failed = print_fish();
    if (failed)
        fputs("usage: gen_docs man TEMPLATE | bash | zsh | fish\n", stderr);
    return failed || fflush(stdout) != 0;
}
