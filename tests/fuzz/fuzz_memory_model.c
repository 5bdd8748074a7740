/* memory/model.h: any life of a tree and any answer of a read keeps the totals within what the processes show. */
#include "fuzz.h"
#include "model_ops.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *failure = model_ops_run(data, size);
    if (failure)
        fprintf(stderr, "%s\n", failure);
    FUZZ_REQUIRE(!failure);
    return 0;
}
