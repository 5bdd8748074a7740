#include "host/dmi.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

static void read_field(const struct trk_context *context, const char *name, char *ret_text)
{
    char path[64];
    snprintf(path, sizeof path, "sys/class/dmi/id/%s", name);
    int len = trk__file_read_small_at(context->root_fd, path, ret_text, TRK_DMI_SIZE);
    if (len < 0)
        len = 0;
    while (len > 0 && (unsigned char)ret_text[len - 1] <= ' ')
        len--;
    ret_text[len] = '\0';
}

void trk__dmi_read(const struct trk_context *context, struct trk_dmi *ret_dmi)
{
    read_field(context, "sys_vendor", ret_dmi->sys_vendor);
    read_field(context, "product_name", ret_dmi->product_name);
    read_field(context, "board_asset_tag", ret_dmi->board_asset_tag);
    read_field(context, "chassis_asset_tag", ret_dmi->chassis_asset_tag);
}

/* The asset tags alone are often blank or boilerplate on real machines: they say nothing of who made it. */
bool trk__dmi_is_empty(const struct trk_dmi *dmi)
{
    return !*dmi->sys_vendor && !*dmi->product_name;
}

bool trk__dmi_is_generic(const struct trk_dmi *dmi)
{
    static const char *const words[] = {"OpenStack", "QEMU", "KVM", "Xen", "Bochs", "Standard PC"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(dmi->sys_vendor, words[i]) || strstr(dmi->product_name, words[i]))
            return true;
    return false;
}
