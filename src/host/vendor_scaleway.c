/* Scaleway. Its service has an address of its own. */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->sys_vendor, "Scaleway") == 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    struct trk_http_request request = {.address = "169.254.42.42", .path = "/conf?format=json"};
    int code = trk__metadata_object(metadata, &request, &object);
    if (code == 0 && !trk__metadata_has(&object, "commercial_type"))
        code = -EBADMSG;
    if (code == 0) {
        trk__metadata_field(&object, "commercial_type", cloud->instance_type);
        trk__metadata_field(&object, "zone", cloud->zone);
        if (!*cloud->zone)
            trk__metadata_field(&object, "location.zone_id", cloud->zone);
        trk__region_of_zone(cloud->zone, 1, cloud->region); /* fr-par-1 */
    }
    trk__buffer_done(&object);
    return code;
}

const struct trk_vendor trk__vendor_scaleway = {"scaleway", has_dmi, NULL, ask};
