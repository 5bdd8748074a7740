/* OVHcloud. Its firmware says OpenStack, as others' does; its name server in the network's description is the sign. */
#include "host/vendor.h"

#include "base/cleanup.h"
#include "base/json_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char NAME_SERVER[] = "213.186.33.99";
enum { SERVICES_MAX = 64 };

/* No machine is OVH's by its firmware alone. */
static bool has_dmi(const struct trk_dmi *dmi)
{
    (void)dmi;
    return false;
}

static bool has_name_server(const struct trk_buffer *object)
{
    for (int i = 0; i < SERVICES_MAX; i++) {
        char path[48], type[TRK_CLOUD_TEXT_SIZE], address[TRK_CLOUD_TEXT_SIZE];
        snprintf(path, sizeof path, "services.%d", i);
        if (!trk__metadata_has(object, path))
            return false;
        snprintf(path, sizeof path, "services.%d.type", i);
        trk__metadata_field(object, path, type);
        snprintf(path, sizeof path, "services.%d.address", i);
        trk__metadata_field(object, path, address);
        if (strcmp(type, "dns") == 0 && strcmp(address, NAME_SERVER) == 0)
            return true;
    }
    return false;
}

static int check_network(const struct trk_metadata *metadata)
{
    struct trk_buffer object;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/openstack/latest/network_data.json"};
    int code = trk__metadata_object(metadata, &request, &object);
    if (code == 0 && !has_name_server(&object))
        code = -EBADMSG;
    trk__buffer_done(&object);
    return code;
}

static void take_zone(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/openstack/latest/meta_data.json"};
    if (trk__metadata_object(metadata, &request, &object) == 0)
        trk__metadata_field(&object, "availability_zone", cloud->zone);
    trk__buffer_done(&object);
    if (strcmp(cloud->zone, "nova") == 0) /* OpenStack's word for "there are no zones" */
        cloud->zone[0] = '\0';
    trk__region_of_zone(cloud->zone, 1, cloud->region);
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    int code = check_network(metadata);
    if (code < 0)
        return code;
    take_zone(metadata, cloud);
    trk__metadata_latest(metadata, TRK_METADATA_ADDRESS, "", "instance-type", cloud->instance_type);
    return 0;
}

const struct trk_vendor trk__vendor_ovh = {"ovh", has_dmi, NULL, ask};
