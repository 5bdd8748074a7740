/* gpu-tracker sub-track: files of code blocks. */
#include "gput.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int missing(const char *what)
{
    return cli_fail("%s is needed; gpu-tracker --compat 5 --help shows how", what);
}

static enum trk_sub_track_style style_of(int format)
{
    return format == GPUT_JSON ? TRK_SUB_TRACK_JSON : TRK_SUB_TRACK_TEXT;
}

/* Takes the text; 0 or 125. */
static int put(const struct gput_options *options, char *text)
{
    struct gput_output output;
    int status = gput_output_open(&output, options->output);
    if (!status)
        status = gput_output_write(&output, text);
    trk_free(text);
    return status;
}

/* ---- combine ---- */

static int is_file_name(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int combine_folder(const char *target, const char *folder)
{
    struct dirent **entry;
    struct trk_error error = {0};
    int count = scandir(folder, &entry, is_file_name, by_name);
    if (count < 0)
        return cli_fail("can't read the folder %s: %s; name at least two files to combine them",
                        folder, strerror(errno));
    char **paths = calloc((size_t)count + 1, sizeof *paths);
    int code = paths ? 0 : -ENOMEM;
    for (int i = 0; i < count; i++) {
        if (code == 0 && asprintf(&paths[i], "%s/%s", folder, entry[i]->d_name) < 0) {
            paths[i] = NULL;
            code = -ENOMEM;
        }
        free(entry[i]);
    }
    free(entry);
    if (code == 0)
        code = trk_sub_track_combine(target, (const char *const *)paths, (size_t)count, &error);
    for (int i = 0; paths && i < count; i++)
        free(paths[i]);
    free(paths);
    return code < 0 ? cli_fail("%s", *error.message ? error.message : strerror(-code)) : 0;
}

static int combine(const struct gput_options *options)
{
    struct trk_error error = {0};
    if (!options->sub_tracking_file)
        return missing("--stf=FILE, the file to make,");
    if (!options->paths.count)
        return missing("-p PATH, what to combine,");
    if (options->paths.count == 1)
        return combine_folder(options->sub_tracking_file, options->paths.item[0]);
    int code = trk_sub_track_combine(options->sub_tracking_file, options->paths.item,
                                     options->paths.count, &error);
    return code < 0 ? cli_fail("%s", error.message) : 0;
}

/* ---- analyze ---- */

static int analyze(const struct gput_options *options)
{
    struct trk_error error = {0};
    char *text;
    int format = gput_format_of(options);
    if (format < 0)
        return CLI_EXIT_OWN;
    if (!options->tracking_file)
        return missing("--tf=FILE, a tracking file,");
    if (!options->sub_tracking_file)
        return missing("--stf=FILE, a sub-tracking file,");
    int code = trk_sub_track_analyze(options->tracking_file, options->sub_tracking_file,
                                     style_of(format), &text, &error);
    return code < 0 ? cli_fail("%s", error.message) : put(options, text);
}

/* ---- compare ---- */

struct sessions {
    const char **names, **paths;
    char **texts;  /* of the files */
    char **copies; /* names that were cut out of NAME=FILE */
    size_t count, copied;
};

static void sessions_done(struct sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++)
        free(sessions->texts[i]);
    for (size_t i = 0; i < sessions->copied; i++)
        free(sessions->copies[i]);
    free(sessions->names);
    free(sessions->paths);
    free(sessions->texts);
    free(sessions->copies);
}

static void add_session(struct sessions *sessions, const char *name, const char *path)
{
    for (size_t i = 0; i < sessions->count; i++) {
        if (strcmp(sessions->names[i], name) != 0)
            continue;
        sessions->paths[i] = path; /* the later one counts, as in a dict */
        return;
    }
    sessions->names[sessions->count] = name;
    sessions->paths[sessions->count++] = path;
}

static int add_typed(struct sessions *sessions, const struct gput_list *maps)
{
    for (size_t i = 0; i < maps->count; i++) {
        const char *equals = strchr(maps->item[i], '=');
        if (!equals || equals == maps->item[i] || !equals[1])
            return cli_fail("-m %s is not of the form NAME=FILE", maps->item[i]);
        char *name = strndup(maps->item[i], (size_t)(equals - maps->item[i]));
        if (!name)
            return cli_fail("out of memory");
        sessions->copies[sessions->copied++] = name;
        add_session(sessions, name, equals + 1);
    }
    return 0;
}

/* NULL, and the message is printed. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    /* JSON has no NUL byte, so this reads to the end of the file, also of a pipe, whose size is unknown. */
    ssize_t len = file ? getdelim(&text, &size, '\0', file) : -1;
    if (len < 0)
        cli_fail("can't read %s: %s", path, file && feof(file) ? "it is empty" : strerror(errno));
    if (file)
        fclose(file);
    if (len < 0) {
        free(text);
        return NULL;
    }
    if (text[0] == '\x80') { /* what every pickle of the last ten years begins with */
        cli_fail("%s is a pickle file, which only Python can read; write it again with sub-track "
                 "analyze -f json",
                 path);
        free(text);
        return NULL;
    }
    return text;
}

static int read_sessions(struct sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++)
        if (!(sessions->texts[i] = read_text(sessions->paths[i])))
            return CLI_EXIT_OWN;
    return 0;
}

static int compare_sessions(const struct gput_options *options, const struct sessions *sessions,
                            const char *statistic, int format)
{
    struct trk_error error = {0};
    char *text, *warnings = NULL;
    int code = trk_sub_track_compare(sessions->names, (const char *const *)sessions->texts,
                                     sessions->count, statistic, style_of(format), &text, &warnings,
                                     &error);
    if (code < 0)
        return cli_fail("%s", error.message);
    if (warnings)
        fputs(warnings, stderr);
    trk_free(warnings);
    return put(options, text);
}

static int compare_all(const struct gput_options *options, const struct trk_sub_track_map *map,
                       int format)
{
    size_t most = map->count + options->maps.count + 1;
    struct sessions sessions = {.names = calloc(most, sizeof(char *)),
                                .paths = calloc(most, sizeof(char *)),
                                .texts = calloc(most, sizeof(char *)),
                                .copies = calloc(most, sizeof(char *))};
    if (!sessions.names || !sessions.paths || !sessions.texts || !sessions.copies) {
        sessions_done(&sessions);
        return cli_fail("out of memory");
    }
    for (size_t i = 0; i < map->count; i++)
        add_session(&sessions, map->names[i], map->paths[i]);
    int status = add_typed(&sessions, &options->maps);
    if (!status && !sessions.count)
        status = cli_fail("name what is compared: -m NAME=FILE, twice or more, or --cconfig=FILE");
    if (!status)
        status = read_sessions(&sessions);
    const char *statistic = options->statistic ? options->statistic
                            : map->statistic   ? map->statistic
                                               : "mean";
    if (!status)
        status = compare_sessions(options, &sessions, statistic, format);
    sessions_done(&sessions);
    return status;
}

static int compare(const struct gput_options *options)
{
    struct trk_error error = {0};
    struct trk_sub_track_map map = {.size = sizeof map};
    int format = gput_format_of(options);
    if (format < 0)
        return CLI_EXIT_OWN;
    if (options->compare_config &&
        trk_sub_track_map_load(&map, options->compare_config, &error) < 0)
        return cli_fail("%s", error.message);
    int status = compare_all(options, &map, format);
    trk_sub_track_map_done(&map);
    return status;
}

int gput_sub_track(const struct gput_options *options)
{
    return options->command == GPUT_COMBINE   ? combine(options)
           : options->command == GPUT_ANALYZE ? analyze(options)
                                              : compare(options);
}
