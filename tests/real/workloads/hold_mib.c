/* hold_mib MIB: holds so much memory for a tenth of a second, which is long enough to be sampled. */
#include "workload.h"

int main(int argc, char *argv[])
{
    size_t bytes = argc > 1 ? (size_t)atoi(argv[1]) << 20 : 0;
    char *memory = malloc(bytes + 1);
    if (!memory)
        return 1;
    memset(memory, 'x', bytes + 1);
    usleep(100000);
    return memory[bytes / 2] != 'x';
}
