/* Vultr. https://docs.vultr.com/metadata - the type is not told. */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->sys_vendor, "Vultr") == 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS, .path = "/v1.json"};
    int code = trk__metadata_object(metadata, &request, &object);
    if (code == 0 && !trk__metadata_has(&object, "instanceid") &&
        !trk__metadata_has(&object, "instance-v2-id"))
        code = -EBADMSG;
    if (code == 0)
        trk__metadata_field(&object, "region.regioncode", cloud->region);
    trk__buffer_done(&object);
    return code;
}

const struct trk_vendor trk__vendor_vultr = {"vultr", has_dmi, NULL, ask};
