/* Names: the folder of runs, a run's id, what runs of one command have in common. */
#include "base/error.h"
#include "platform/os.h"
#include "run/store.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FOLDER_MODE = 0700 };

int trk__store_path(const char *folder, char ret_path[TRK_STORE_PATH_SIZE])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int len;
    if (folder)
        len = snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s", folder);
    else if (state && state[0] == '/') /* a relative one is to be ignored, the standard says */
        len = snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s/resource-tracker/runs", state);
    else if (home && home[0] == '/')
        len =
            snprintf(ret_path, TRK_STORE_PATH_SIZE, "%s/.local/state/resource-tracker/runs", home);
    else
        return -ENOENT;
    return len < TRK_STORE_PATH_SIZE ? 0 : -ENAMETOOLONG;
}

int trk__store_make(const char *path)
{
    char part[TRK_STORE_PATH_SIZE];
    if (strlen(path) >= sizeof part)
        return -ENAMETOOLONG;
    strcpy(part, path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, FOLDER_MODE) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
            return -errno;
        *slash = '/';
    }
    return mkdir(part, FOLDER_MODE) < 0 && errno != EEXIST ? -errno : 0;
}

/* The date of a day since the epoch in the proleptic Gregorian calendar, by eras of 400 years that begin in March.
 * gmtime_r would read the time zone's file first, which a run of a millisecond feels. */
static void civil_date(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day)
{
    days += 719468; /* from 1 March of the year 0 */
    int64_t era = days / 146097;
    unsigned of_era = (unsigned)(days - era * 146097);
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned from_march = (5 * of_year + 2) / 153;
    *ret_day = of_year - (153 * from_march + 2) / 5 + 1;
    *ret_month = from_march < 10 ? from_march + 3 : from_march - 9;
    *ret_year = (int64_t)year + era * 400 + (*ret_month <= 2);
}

void trk__store_make_id(double start_time, char ret_id[TRK_RUN_ID_SIZE])
{
    uint32_t chance;
    if (!trk__os_random(&chance, sizeof chance)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        chance = (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)getpid();
    }
    int64_t seconds = start_time > 0 ? (int64_t)start_time : 0;
    int64_t year;
    unsigned month, day, second = (unsigned)(seconds % 86400);
    civil_date(seconds / 86400, &year, &month, &day);
    snprintf(ret_id, TRK_RUN_ID_SIZE, "%04u%02u%02u-%02u%02u%02u-%08x", (unsigned)year % 10000,
             month % 100, day % 100, second / 3600 % 100, second / 60 % 60, second % 60, chance);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool is_interpreter(const char *name)
{
    static const char *const patterns[] = {
        "python*", "pypy*", "Rscript", "R",     "perl*", "ruby*", "node*", "bash", "sh",     "dash",
        "zsh",     "ksh",   "java",    "julia", "php*",  "lua*",  "deno",  "bun",  "octave*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return false;
}

/* The first word that is no option: a script, a module behind -m, a program behind -c. */
static const char *script_of(char *const command[], bool *ret_is_file)
{
    *ret_is_file = true;
    for (char *const *word = command + 1; *word; word++) {
        bool takes_text = strcmp(*word, "-c") == 0 || strcmp(*word, "-e") == 0 ||
                          strcmp(*word, "-m") == 0 || strcmp(*word, "-E") == 0;
        if (takes_text && word[1]) {
            *ret_is_file = false;
            return word[1];
        }
        if ((*word)[0] != '-')
            return *word;
    }
    return NULL;
}

/* It is a field of the list, which is made of lines and tabs. */
static void keep_on_one_line(char *key)
{
    for (char *at = key; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
}

void trk__store_key_of_text(const char *text, char ret_key[TRK_RUN_KEY_SIZE])
{
    snprintf(ret_key, TRK_RUN_KEY_SIZE, "%s", text);
    keep_on_one_line(ret_key);
}

/* Scripts of the same name in two folders are two commands; the program itself goes by its name, which a
 * virtual environment or an update does not change. */
void trk__store_key(char *const command[], const char *folder, char ret_key[TRK_RUN_KEY_SIZE])
{
    const char *program = command[0] ? base_name(command[0]) : "";
    bool is_file = false;
    const char *script = is_interpreter(program) ? script_of(command, &is_file) : NULL;
    char ours[TRK_STORE_PATH_SIZE] = "";
    bool is_relative = script && is_file && script[0] != '/';
    if (is_relative && !folder)
        folder = getcwd(ours, sizeof ours);
    bool has_folder = is_relative && folder && folder[0] && folder[1];
    snprintf(ret_key, TRK_RUN_KEY_SIZE, "%s%s%s%s%s", program, script ? " " : "",
             has_folder ? folder : "", is_relative && folder ? "/" : "", script ? script : "");
    keep_on_one_line(ret_key);
}
