/* What the firmware says of the machine: /sys/class/dmi/id. */
#ifndef TRK_HOST_DMI_H
#define TRK_HOST_DMI_H

#include "base/context.h"

enum { TRK_DMI_SIZE = 128 };

struct trk_dmi {
    char sys_vendor[TRK_DMI_SIZE]; /* "": not readable, as the rest */
    char product_name[TRK_DMI_SIZE];
    char board_asset_tag[TRK_DMI_SIZE];
    char chassis_asset_tag[TRK_DMI_SIZE];
};

void trk__dmi_read(const struct trk_context *context, struct trk_dmi *ret_dmi);

/* Nothing could be read: no firmware tables (most ARM boards), or they are hidden (some containers). */
bool trk__dmi_is_empty(const struct trk_dmi *dmi);

/* The texts of a hypervisor that any cloud, or none, may use. */
bool trk__dmi_is_generic(const struct trk_dmi *dmi);

#endif
