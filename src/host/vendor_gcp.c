/* Google Compute Engine. https://cloud.google.com/compute/docs/metadata/querying-metadata
 *
 * The service's name is in the hosts file of Google's images; elsewhere its address is the documented one. No name
 * server is asked: a look-up can take longer than all of this may, and would tell one that we are here. */
#include "host/vendor.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const char HOST[] = "metadata.google.internal";

static bool has_dmi(const struct trk_dmi *dmi)
{
    return strcmp(dmi->product_name, "Google Compute Engine") == 0;
}

static bool line_names_host(struct trk_cursor line, char ret_address[INET_ADDRSTRLEN])
{
    struct trk_cursor address, name;
    struct in_addr binary;
    const char *comment = memchr(line.at, '#', (size_t)(line.end - line.at));
    if (comment)
        line.end = comment;
    if (!trk__cursor_word(&line, &address))
        return false;
    while (trk__cursor_word(&line, &name))
        if (trk__cursor_equals(&name, HOST)) {
            trk__cursor_copy(&address, ret_address, INET_ADDRSTRLEN);
            return inet_pton(AF_INET, ret_address, &binary) == 1;
        }
    return false;
}

static void find_address(char ret_address[INET_ADDRSTRLEN])
{
    struct trk_buffer text;
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    TRK_CLEANUP_FD int fd = open("/etc/hosts", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool found = false;
    if (fd >= 0 && trk__file_read_all(fd, TRK_FILE_MANY_RECORDS, &text) == 0) {
        struct trk_cursor cursor = trk__cursor(text.data ? text.data : "", text.len), line;
        while (!found && trk__cursor_line(&cursor, &line))
            found = line_names_host(line, ret_address);
    }
    if (!found)
        strcpy(ret_address, TRK_METADATA_ADDRESS);
    trk__buffer_done(&text);
}

/* "projects/123/zones/us-east1-b": the last part counts. */
static int last_part(const struct trk_metadata *metadata, const char *address, const char *name,
                     char ret_word[TRK_CLOUD_TEXT_SIZE])
{
    char path[96], word[TRK_CLOUD_TEXT_SIZE];
    snprintf(path, sizeof path, "/computeMetadata/v1/instance/%s", name);
    struct trk_http_request request = {
        .address = address, .host = HOST, .path = path, .header = "Metadata-Flavor: Google"};
    int code = trk__metadata_word(metadata, &request, word);
    if (code < 0)
        return code;
    const char *slash = strrchr(word, '/');
    if (!slash || !slash[1] || strncmp(word, "projects/", strlen("projects/")) != 0)
        return -EBADMSG; /* not what this service says */
    strcpy(ret_word, slash + 1);
    return 0;
}

static int ask(const struct trk_metadata *metadata, struct trk_cloud *cloud)
{
    char address[INET_ADDRSTRLEN];
    find_address(address);
    int code = last_part(metadata, address, "zone", cloud->zone);
    if (code < 0)
        return code;
    trk__region_of_zone(cloud->zone, 1, cloud->region);
    last_part(metadata, address, "machine-type", cloud->instance_type);
    return 0;
}

const struct trk_vendor trk__vendor_gcp = {"gcp", has_dmi, NULL, ask};
