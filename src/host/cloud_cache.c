/* What was found is true until the machine boots again: $XDG_CACHE_HOME/resource-tracker/cloud.json. That nobody
 * answered is believed for an hour: the network may have come up since. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_path.h"
#include "host/cloud.h"
#include "run/store.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, BOOT_SIZE = 64, TEXT_SIZE = 4096, FILE_MODE = 0600 };

static const double SILENCE_SECONDS = 3600;

static bool read_boot(const struct trk_context *context, char ret_boot[BOOT_SIZE])
{
    int len =
        trk__file_read_small_at(context->proc_fd, "sys/kernel/random/boot_id", ret_boot, BOOT_SIZE);
    if (len <= 0)
        return false;
    ret_boot[strcspn(ret_boot, "\n")] = '\0';
    return *ret_boot != '\0';
}

/* The folder, without a slash at its end. */
static bool find_folder(char ret_path[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int len = -1;
    if (cache && *cache == '/')
        len = snprintf(ret_path, PATH_SIZE, "%s/resource-tracker", cache);
    else if (home && *home == '/')
        len = snprintf(ret_path, PATH_SIZE, "%s/.cache/resource-tracker", home);
    return len > 0 && len < PATH_SIZE - 64;
}

static const struct trk_vendor *vendor_named(const char *name)
{
    for (unsigned i = 0; name && trk__vendors[i]; i++)
        if (strcmp(trk__vendors[i]->name, name) == 0)
            return trk__vendors[i];
    return NULL;
}

static void take_text(const char *json, const char *key, char ret_text[TRK_CLOUD_TEXT_SIZE])
{
    TRK_CLEANUP_FREE char *text = trk__json_text_at(json, key);
    ret_text[0] = '\0';
    if (text && strcmp(text, "unknown") != 0 && strlen(text) < TRK_CLOUD_TEXT_SIZE)
        strcpy(ret_text, text);
}

static bool parse(const struct trk_context *context, const char *json, const char *boot,
                  struct trk_cloud_finding *finding)
{
    TRK_CLEANUP_FREE char *theirs = trk__json_text_at(json, "boot_id");
    TRK_CLEANUP_FREE char *name = trk__json_text_at(json, "cloud_info.vendor");
    const struct trk_vendor *vendor = vendor_named(name);
    double age = (double)trk__context_realtime_ns(context) * 1e-9 -
                 trk__json_number_at(json, "written_time");
    if (!theirs || strcmp(theirs, boot) != 0 || !name)
        return false;
    if (!vendor && !(age >= 0 && age < SILENCE_SECONDS))
        return false;
    *finding = (struct trk_cloud_finding){.cloud.vendor = vendor ? vendor->name : NULL};
    take_text(json, "cloud_info.instance_type", finding->cloud.instance_type);
    take_text(json, "cloud_info.region", finding->cloud.region);
    take_text(json, "cloud_info.zone", finding->cloud.zone);
    finding->cloud.type_is_inferred =
        trk__json_number_at(json, "cloud_info.instance_type_inferred") > 0;
    double seconds = trk__json_number_at(json, "cloud_info.discovery_time");
    finding->discovery_seconds = seconds >= 0 ? seconds : 0;
    finding->has_answered = vendor != NULL;
    return true;
}

bool trk__cloud_cache_read(const struct trk_context *context, struct trk_cloud_finding *ret_finding)
{
    char boot[BOOT_SIZE], path[PATH_SIZE], text[TEXT_SIZE];
    if (!find_folder(path) || !read_boot(context, boot))
        return false;
    strcat(path, "/cloud.json");
    int len = trk__file_read_small_at(AT_FDCWD, path, text, sizeof text);
    return len > 0 && parse(context, text, boot, ret_finding);
}

static void put_text(struct trk_buffer *text, const char *boot, double now,
                     const struct trk_cloud_finding *finding)
{
    struct trk_json json = trk__json(text);
    trk__json_begin_object(&json);
    trk__json_key(&json, "boot_id");
    trk__json_string(&json, boot);
    trk__json_key(&json, "written_time");
    trk__json_double(&json, now);
    trk__json_key(&json, "cloud_info");
    trk__cloud_put(&json, finding);
    trk__json_end_object(&json);
    trk__buffer_add_char(text, '\n');
}

/* Under another name first: a reader finds all of it or the old one. */
static void replace_file(const char *folder, const struct trk_buffer *text)
{
    char fresh[PATH_SIZE], path[PATH_SIZE];
    snprintf(fresh, sizeof fresh, "%.960s/.cloud-%d.new", folder, (int)getpid());
    snprintf(path, sizeof path, "%.960s/cloud.json", folder);
    TRK_CLEANUP_FD int fd =
        open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd < 0)
        return;
    if (trk__file_write_all(fd, text->data, text->len) < 0 || rename(fresh, path) < 0)
        unlink(fresh);
}

/* Where nobody was asked nothing is kept: it costs no more to find again. Nor is what came in part, by the deadline. */
void trk__cloud_cache_write(const struct trk_context *context,
                            const struct trk_cloud_finding *finding)
{
    char boot[BOOT_SIZE], folder[PATH_SIZE];
    bool is_silent = !finding->cloud.vendor;
    bool is_whole =
        finding->has_answered && finding->discovery_seconds * 1e9 < (double)TRK_CLOUD_LIMIT_NS;
    if (!finding->asked || !(is_whole || is_silent) || !find_folder(folder) ||
        !read_boot(context, boot) || trk__store_make(folder) < 0)
        return;
    struct trk_buffer text;
    trk__buffer_init(&text, TEXT_SIZE);
    double now = (double)trk__context_realtime_ns(context) * 1e-9;
    put_text(&text, boot, now, finding);
    if (!text.failure)
        replace_file(folder, &text);
    trk__buffer_done(&text);
}
