/* Which type this is where the vendor does not tell: the catalogue's of the same vendor, processors, architecture and, nearly,
 * memory. */
#include "catalog/catalog.h"
#include "host/cloud.h"
#include "host/server_info.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>

/* The kernel and the firmware keep a part for themselves, a larger one of small machines. */
static bool is_of_size(const struct trk_catalog_server *server, double vcpus, double memory_mib)
{
    return server->vcpus == vcpus && memory_mib <= server->memory_mib * 1.02 &&
           memory_mib >= server->memory_mib * 0.9 - 128;
}

const char *trk__type_of_size(const struct trk_catalog *catalog, const char *vendor, double vcpus,
                              double memory_mib, const char *architecture)
{
    const struct trk_catalog_server *best = NULL;
    for (size_t i = 0; i < catalog->servers; i++) {
        const struct trk_catalog_server *server = &catalog->server[i];
        if (strcmp(server->vendor, vendor) != 0 ||
            strcmp(server->architecture, architecture) != 0 ||
            !is_of_size(server, vcpus, memory_mib))
            continue;
        double distance = fabs(server->memory_mib - memory_mib);
        double held = best ? fabs(best->memory_mib - memory_mib) : INFINITY;
        if (distance < held || (distance == held && server->ondemand_usd < best->ondemand_usd))
            best = server;
    }
    return best ? best->name : NULL;
}

void trk__cloud_infer_type(const struct trk_context *context, struct trk_cloud *cloud)
{
    struct trk_catalog *catalog;
    struct utsname name;
    double vcpus, memory_mib;
    if (!cloud->vendor || *cloud->instance_type || uname(&name) < 0 ||
        trk__catalog_open(&catalog, NULL) < 0)
        return;
    trk__server_size(context, &vcpus, &memory_mib);
    const char *architecture = strcmp(name.machine, "aarch64") == 0 ? "arm64" : name.machine;
    const char *type = trk__type_of_size(catalog, cloud->vendor, vcpus, memory_mib, architecture);
    if (type && strlen(type) < sizeof cloud->instance_type) {
        strcpy(cloud->instance_type, type);
        cloud->type_is_inferred = true;
    }
    trk__catalog_free(catalog);
}
