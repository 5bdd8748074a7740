/* UpCloud. https://developers.upcloud.com/1.3/8-servers/#metadata-service - the type is not told. */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->sys_vendor, "UpCloud") == 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    char name[TRK_CLOUD_TEXT_SIZE] = "";
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/metadata/v1.json"};
    int code = trk__metadata_object(metadata, &request, &object);
    if (code == 0)
        trk__metadata_field(&object, "cloud_name", name);
    if (code == 0 && strcmp(name, "upcloud") != 0)
        code = -EBADMSG; /* DigitalOcean has the same address */
    if (code == 0)
        trk__metadata_field(&object, "region", cloud->region);
    trk__buffer_done(&object);
    return code;
}

const struct trk_vendor trk__vendor_upcloud = {"upcloud", has_dmi, NULL, ask};
