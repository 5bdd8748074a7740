#include "host/server_info.h"

#include <math.h>

static const struct {
    double factor, amount;
} checks[TRK_ALLOCATION_CHECKS] = {
    {1.25, 0.25},
    {1.5, 512 * 1024.0 * 1024.0},
    {1.25, 0.2},
    {1.25, 512 * 1024.0 * 1024.0},
};

const char *trk__allocation(const double system[TRK_ALLOCATION_CHECKS],
                            const double process[TRK_ALLOCATION_CHECKS])
{
    for (int i = 0; i < TRK_ALLOCATION_CHECKS; i++) {
        if (isnan(system[i]) || isnan(process[i]))
            return "unknown";
        if (system[i] > process[i] * checks[i].factor || system[i] > process[i] + checks[i].amount)
            return "shared";
    }
    return "dedicated";
}
