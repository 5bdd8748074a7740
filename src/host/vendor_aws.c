/* Amazon EC2. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html */
#include "host/vendor.h"

#include <errno.h>
#include <string.h>

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->sys_vendor, "Amazon EC2") == 0 ||
           strncmp(dmi->board_asset_tag, "i-", 2) == 0;
}

/* On Nitro the product is the type; elsewhere it is "HVM domU". */
static void read_dmi(const struct trk_dmi *dmi, struct trk_cloud *cloud)
{
    const char *point = strchr(dmi->product_name, '.');
    if (point && point[1] && strlen(dmi->product_name) < sizeof cloud->instance_type &&
        !strchr(dmi->product_name, ' '))
        strcpy(cloud->instance_type, dmi->product_name);
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    char token[TRK_TOKEN_HEADER_SIZE] = "", domain[TRK_CLOUD_TEXT_SIZE];
    struct trk_http_request put = {.method = "PUT",
                                   .address = TRK_METADATA_ADDRESS,
                                   .path = "/latest/api/token",
                                   .header = "X-aws-ec2-metadata-token-ttl-seconds: 21600"};
    int code = trk__metadata_token(metadata, &put, "X-aws-ec2-metadata-token", token);
    if (code == -ETIMEDOUT || code == -ECONNREFUSED)
        return code; /* nobody is there; where PUT alone is not known, plain GET is tried */
    code = trk__metadata_latest(metadata, TRK_METADATA_ADDRESS, token, "services/domain", domain);
    if (code == 0 && strcmp(domain, "amazonaws.com") != 0)
        code = -EBADMSG; /* OpenStack and others speak as EC2 does */
    if (code < 0)
        return code;
    trk__metadata_latest(metadata, TRK_METADATA_ADDRESS, token, "placement/region", cloud->region);
    trk__metadata_latest(metadata, TRK_METADATA_ADDRESS, token, "placement/availability-zone",
                         cloud->zone);
    trk__metadata_latest(metadata, TRK_METADATA_ADDRESS, token, "instance-type",
                         cloud->instance_type);
    return 0;
}

const struct trk_vendor trk__vendor_aws = {"aws", has_dmi, read_dmi, ask};
