/* direct_write FILE MIB: writes past the page cache. Exits 77 where there is no O_DIRECT. */
#include "workload.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
    const size_t block = 1 << 20;
    int mebibytes = (int)number_argument(argc, argv, 2, 100);
    void *buffer;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC;
    int fd = argc > 1 ? open(argv[1], flags, 0600) : -1;
    if (fd < 0)
        return errno == EINVAL ? 77 : 99;
    if (posix_memalign(&buffer, 4096, block) != 0)
        fail("posix_memalign");
    memset(buffer, 'x', block);
    for (int i = 0; i < mebibytes; i++) {
        ssize_t n = write(fd, buffer, block);
        if (n < 0 && errno == EINVAL)
            return 77;
        if (n != (ssize_t)block)
            fail("write");
    }
    print_number("bytes", (double)mebibytes * (double)block);
    return 0;
}
