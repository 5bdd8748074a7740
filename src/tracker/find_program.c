/* Where the program is that tracks. The current folder is never looked at, and nothing that the environment
 * says counts in a program that runs with more rights than its user. */
#include "platform/os.h"
#include "tracker/tracker.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NAME[] = "resource-tracker";

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool try_beside(const char *file, const char *below, char *ret_path, size_t size)
{
    const char *slash = strrchr(file, '/');
    if (!slash)
        return false;
    int len = snprintf(ret_path, size, "%.*s/%s%s", (int)(slash - file), file, below, NAME);
    return len > 0 && (size_t)len < size && is_program(ret_path);
}

/* Beside the library: in the build folder it lies in include/, installed in lib/ or lib/ARCH/. */
static bool try_library(char *ret_path, size_t size)
{
    static const char *const places[] = {"", "../", "../bin/", "../../bin/"};
    Dl_info info;
    /* Any address in the library says where its file is. */
    if (!dladdr(places, &info) || !info.dli_fname || info.dli_fname[0] != '/')
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (try_beside(info.dli_fname, places[i], ret_path, size))
            return true;
    return false;
}

static bool try_own_program(char *ret_path, size_t size)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0)
        return false;
    self[len] = '\0';
    return try_beside(self, "", ret_path, size);
}

static bool try_path(char *ret_path, size_t size)
{
    const char *path = trk__os_trusted_variable("PATH");
    for (const char *at = path; at && *at;) {
        size_t len = strcspn(at, ":");
        int put = snprintf(ret_path, size, "%.*s/%s", (int)len, at, NAME);
        if (*at == '/' && put > 0 && (size_t)put < size && is_program(ret_path))
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

int trk__find_program(const char *asked, char *ret_path, size_t size)
{
    if (!asked)
        asked = trk__os_trusted_variable("TRACKER_BIN");
    if (asked && *asked) {
        if (strlen(asked) >= size)
            return -ENAMETOOLONG;
        strcpy(ret_path, asked);
        return is_program(ret_path) ? 0 : -ENOENT;
    }
    return try_library(ret_path, size) || try_own_program(ret_path, size) ||
                   try_path(ret_path, size)
               ? 0
               : -ENOENT;
}
