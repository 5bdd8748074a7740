#include "net/https.h"

#include "base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef TRK_NET_FOLDER /* builds without an installed module, as R's */
#define TRK_NET_FOLDER "/usr/local/lib/resource-tracker"
#endif

/* "FOLDER/resource-tracker-net.so" beside a file. */
static bool beside(const char *file, char ret_path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    int len =
        slash ? snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)(slash - file), file, TRK_NET_MODULE)
              : -1;
    return len > 0 && len < PATH_MAX && access(ret_path, R_OK) == 0;
}

/* Lies in the same file as this code. */
static const char anchor = 0;

/* Beside the program, beside the library that this code lies in, or where it was installed. */
static bool find_module(char ret_path[PATH_MAX])
{
    char program[PATH_MAX];
    Dl_info here;
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    program[len > 0 ? len : 0] = '\0';
    if (len > 0 && beside(program, ret_path))
        return true;
    if (dladdr(&anchor, &here) && here.dli_fname && beside(here.dli_fname, ret_path))
        return true;
    snprintf(ret_path, PATH_MAX, "%s/%s", TRK_NET_FOLDER, TRK_NET_MODULE);
    return access(ret_path, R_OK) == 0;
}

/* It stays loaded: libcurl and OpenSSL do not like to be taken out again. */
static trk_net_get_function *load(struct trk_error *error)
{
    char path[PATH_MAX];
    if (!find_module(path)) {
        trk__error_set(error, -ENOSYS,
                       "the network module %s is not here (it is built where libcurl is)",
                       TRK_NET_MODULE);
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = module ? dlsym(module, TRK_NET_SYMBOL) : NULL;
    if (!symbol) {
        const char *why = dlerror();
        trk__error_set(error, -ENOSYS, "the network module can't be loaded: %.200s",
                       why ? why : "no reason is given");
        return NULL;
    }
    trk_net_get_function *get;
    memcpy(&get, &symbol, sizeof get); /* as POSIX has it: no cast from data to code */
    return get;
}

int trk__https_get(const struct trk_net_request *request, struct trk_net_answer *ret_answer,
                   struct trk_error *error)
{
    trk_net_get_function *get = load(error);
    if (!get)
        return -ENOSYS;
    int code = get(request, ret_answer);
    if (code < 0)
        trk__error_set(error, code, "%s",
                       *ret_answer->message ? ret_answer->message : strerror(-code));
    return code;
}
