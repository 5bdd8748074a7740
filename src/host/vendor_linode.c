/* Akamai Connected Cloud (Linode). https://techdocs.akamai.com/cloud-computing/docs/metadata-service-api */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->sys_vendor, "Linode") == 0 || strcmp(dmi->sys_vendor, "Akamai") == 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    char token[TRK_TOKEN_HEADER_SIZE];
    struct trk_http_request put = {.method = "PUT",
                                   .address = TRK_METADATA_ADDRESS,
                                   .path = "/v1/token",
                                   .header = "Metadata-Token-Expiry-Seconds: 300"};
    int code = trk__metadata_token(metadata, &put, "Metadata-Token", token);
    if (code < 0)
        return code;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/v1/instance",
                                       .header = token,
                                       .header2 = "Accept: application/json"};
    code = trk__metadata_object(metadata, &request, &object);
    if (code == 0 && !trk__metadata_has(&object, "type"))
        code = -EBADMSG;
    if (code == 0) {
        trk__metadata_field(&object, "type", cloud->instance_type);
        trk__metadata_field(&object, "region", cloud->region);
    }
    trk__buffer_done(&object);
    return code;
}

const struct trk_vendor trk__vendor_linode = {"linode", has_dmi, NULL, ask};
