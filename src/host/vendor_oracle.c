/* Oracle Cloud. https://docs.oracle.com/iaas/Content/Compute/Tasks/gettingmetadata.htm */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->chassis_asset_tag, "OracleCloud.com") == 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    struct trk_buffer object;
    struct trk_http_request request = {.address = TRK_METADATA_ADDRESS,
                                       .path = "/opc/v2/instance/",
                                       .header = "Authorization: Bearer Oracle"};
    int code = trk__metadata_object(metadata, &request, &object);
    if (code == 0 && !trk__metadata_has(&object, "shape"))
        code = -EBADMSG;
    if (code == 0) {
        trk__metadata_field(&object, "shape", cloud->instance_type);
        trk__metadata_field(&object, "canonicalRegionName", cloud->region);
        trk__metadata_field(&object, "availabilityDomain", cloud->zone);
    }
    trk__buffer_done(&object);
    return code;
}

const struct trk_vendor trk__vendor_oracle = {"oracle", has_dmi, NULL, ask};
