/* Microsoft Azure. https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

/* The same on each of its machines; Hyper-V elsewhere has another. */
static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->chassis_asset_tag, "7783-7084-3265-9085-8269-3286-77") == 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/metadata/instance?api-version=2021-02-01",
                                       .header = "Metadata: true"};
    int code = trk__metadata_object(metadata, &request, &object);
    if (code == 0 && !trk__metadata_has(&object, "compute.vmSize"))
        code = -EBADMSG;
    if (code == 0) {
        trk__metadata_field(&object, "compute.vmSize", cloud->instance_type);
        trk__metadata_field(&object, "compute.location", cloud->region);
        trk__metadata_field(&object, "compute.zone", cloud->zone);
    }
    trk__buffer_done(&object);
    return code;
}

const struct trk_vendor trk__vendor_azure = {"azure", has_dmi, NULL, ask};
