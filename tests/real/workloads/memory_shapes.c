/* memory_shapes SHAPE [FILE or STAGE]: holds memory in one of the ways that programs have. Prints "ready" when a phase
 * is in place; each line on stdin begins the next one, the last of them the end. */
#include "workload.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

enum { MIB = 1 << 20, PAGE_BYTES = 4096, CHILDREN_MAX = 8, EXEC_STAGES = 3 };

static const char *program;
static pid_t child[CHILDREN_MAX];
static int child_count;

static void phase(void)
{
    char line[16];
    printf("ready\n");
    fflush(stdout);
    if (read(STDIN_FILENO, line, sizeof line) <= 0)
        exit(0);
}

static void write_pages(char *memory, int mib)
{
    for (size_t at = 0; at < (size_t)mib * MIB; at += PAGE_BYTES)
        memory[at] = (char)(memory[at] + 1);
}

static void read_pages(const char *memory, int mib)
{
    for (size_t at = 0; at < (size_t)mib * MIB; at += PAGE_BYTES)
        (void)*(const volatile char *)&memory[at];
}

static char *map(int mib, int protection, int flags, int fd)
{
    char *memory = mmap(NULL, (size_t)mib * MIB, protection, flags, fd, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    return memory;
}

static char *take(int mib)
{
    char *memory = map(mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    write_pages(memory, mib);
    return memory;
}

/* Starts `count` children that do `act` and stay; returns when all of them have. */
static void start_children(int count, void (*act)(char *memory, int index), char *memory)
{
    int done[2];
    char byte = 0;
    if (pipe(done) < 0)
        fail("pipe");
    for (int i = 0; i < count; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            act(memory, i);
            if (write(done[1], &byte, 1) != 1)
                _exit(99);
            for (;;)
                pause();
        }
        child[child_count++] = pid;
    }
    for (int i = 0; i < count; i++)
        if (read(done[0], &byte, 1) != 1)
            fail("a child");
    close(done[0]);
    close(done[1]);
}

static void end_children(int count)
{
    while (count-- > 0 && child_count > 0) {
        kill(child[--child_count], SIGKILL);
        wait_for(child[child_count]);
    }
}

/* ---- the shapes ---- */

static void copy_some(char *memory, int index)
{
    write_pages(memory, 10 * (index + 1));
}

/* Children copy different amounts of their parent's memory; then the parent writes what all had in common. */
static void copies(void)
{
    char *memory = take(60);
    start_children(4, copy_some, memory);
    phase();
    write_pages(memory + 40 * MIB, 20);
    phase();
}

static void use_all(char *memory, int index)
{
    (void)index;
    write_pages(memory, 64);
}

static void shared(void)
{
    int fd = memfd_create("shared", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 64 * MIB) < 0)
        fail("memfd");
    start_children(4, use_all, map(64, PROT_READ | PROT_WRITE, MAP_SHARED, fd));
    phase();
}

static void read_all(char *memory, int index)
{
    (void)index;
    read_pages(memory, 64);
}

static void mapped_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(path);
    start_children(3, read_all, map(64, PROT_READ, MAP_SHARED, fd));
    phase();
}

static void growth(void)
{
    for (int i = 0; i < 3; i++) {
        take(30);
        phase();
    }
}

/* Half a second's way to a gigabyte. */
static void large(void)
{
    char *memory = map(1024, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (int i = 0; i < 16; i++) {
        write_pages(memory + (size_t)i * 64 * MIB, 64);
        sleep_seconds(0.03);
    }
    phase();
}

static void shrink(void)
{
    char *memory = take(120);
    phase();
    munmap(memory, 80 * MIB);
    phase();
}

static void take_own(char *memory, int index)
{
    (void)memory, (void)index;
    take(5);
}

static void leaving(void)
{
    take(80);
    start_children(6, take_own, NULL);
    phase();
    end_children(3);
    phase();
    end_children(3);
    phase();
}

static void exec_chain(int stage)
{
    char next[16];
    take(20 + 30 * stage);
    phase();
    if (stage + 1 == EXEC_STAGES)
        return;
    snprintf(next, sizeof next, "%d", stage + 1);
    execl(program, program, "exec", next, (char *)NULL);
    fail("exec");
}

int main(int argc, char **argv)
{
    const char *shape = argc > 1 ? argv[1] : "";
    program = argv[0];
    if (strcmp(shape, "copies") == 0)
        copies();
    else if (strcmp(shape, "shared") == 0)
        shared();
    else if (strcmp(shape, "file") == 0 && argc > 2)
        mapped_file(argv[2]);
    else if (strcmp(shape, "growth") == 0)
        growth();
    else if (strcmp(shape, "large") == 0)
        large();
    else if (strcmp(shape, "shrink") == 0)
        shrink();
    else if (strcmp(shape, "leaving") == 0)
        leaving();
    else if (strcmp(shape, "exec") == 0)
        exec_chain(argc > 2 ? atoi(argv[2]) : 0);
    else
        return 2;
    end_children(CHILDREN_MAX);
    return 0;
}
