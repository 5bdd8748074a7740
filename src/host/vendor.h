/* A cloud vendor: how its machines are told by their firmware, and what its metadata service is asked. One file each,
 * vendor_*.c; the list is in vendors.c. */
#ifndef TRK_HOST_VENDOR_H
#define TRK_HOST_VENDOR_H

#include "host/dmi.h"
#include "host/http.h"

enum { TRK_CLOUD_TEXT_SIZE = 64 };

/* "": not known. */
struct trk_cloud {
    const char *vendor; /* NULL: not known; static storage */
    char instance_type[TRK_CLOUD_TEXT_SIZE];
    char region[TRK_CLOUD_TEXT_SIZE];
    char zone[TRK_CLOUD_TEXT_SIZE];
    bool type_is_inferred; /* from the catalogue, by size */
};

/* Who carries a question to a metadata service: sockets, or a test. See trk__http_ask. */
struct trk_metadata {
    int (*ask)(void *state, const struct trk_http_request *request, struct trk_buffer *body);
    void *state;
};

struct trk_vendor {
    const char *name; /* as the catalogue and Keeper have it */
    bool (*has_dmi)(const struct trk_dmi *dmi);
    /* What the firmware tells beside the name; NULL: nothing. */
    void (*read_dmi)(const struct trk_dmi *dmi, struct trk_cloud *cloud);
    /* Fills what the service tells. A negative code: this is not the vendor's service, or it does not answer. */
    int (*ask)(const struct trk_metadata *metadata, struct trk_cloud *cloud);
};

/* NULL ends the list. */
extern const struct trk_vendor *const trk__vendors[];

extern const struct trk_vendor trk__vendor_aws, trk__vendor_gcp, trk__vendor_azure,
    trk__vendor_hcloud, trk__vendor_upcloud, trk__vendor_vultr, trk__vendor_alicloud,
    trk__vendor_ovh, trk__vendor_digitalocean, trk__vendor_oracle, trk__vendor_scaleway,
    trk__vendor_linode;

/* ---- what vendors have in common ----------------------------------------------------- */

#define TRK_METADATA_ADDRESS "169.254.169.254"

/* A body that is one word, as identifiers are: "" and -EBADMSG where it is anything else. */
int trk__metadata_word(const struct trk_metadata *metadata, const struct trk_http_request *request,
                       char ret_word[TRK_CLOUD_TEXT_SIZE]);

/* The same of /latest/meta-data/NAME, with the line of a token ("": without). Amazon began it, others speak it. */
int trk__metadata_latest(const struct trk_metadata *metadata, const char *address,
                         const char *token, const char *name, char ret_word[TRK_CLOUD_TEXT_SIZE]);

/* A body that is a JSON object. The caller frees it with trk__buffer_done, also after a failure. */
int trk__metadata_object(const struct trk_metadata *metadata,
                         const struct trk_http_request *request, struct trk_buffer *body);

/* A text in such an object by its path, if it is an identifier; "" if not. */
void trk__metadata_field(const struct trk_buffer *object, const char *path,
                         char ret_word[TRK_CLOUD_TEXT_SIZE]);

/* Whether the object has something at that path. */
bool trk__metadata_has(const struct trk_buffer *object, const char *path);

/* A token that a PUT gives, as the header line "NAME: TOKEN". */
enum { TRK_TOKEN_HEADER_SIZE = 640 };
int trk__metadata_token(const struct trk_metadata *metadata, const struct trk_http_request *request,
                        const char *header_name, char ret_header[TRK_TOKEN_HEADER_SIZE]);

/* "us-east1-b" without what stands behind the last hyphen, if that is at most `tail_max` long. */
void trk__region_of_zone(const char *zone, size_t tail_max, char ret_region[TRK_CLOUD_TEXT_SIZE]);

#endif
