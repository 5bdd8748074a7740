#include "platform/linux/proc_smaps.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { CHUNK_SIZE = 1 << 16, PATH_SIZE = 32, KIB = 1024 };

void trk__smaps_clear(struct trk_smaps *smaps)
{
    *smaps = (struct trk_smaps){.share = smaps->share, .share_capacity = smaps->share_capacity};
}

void trk__smaps_done(struct trk_smaps *smaps)
{
    free(smaps->share);
    *smaps = (struct trk_smaps){0};
}

/* FNV-1a: collisions of a few thousand keys in 64 bits do not happen. */
static uint64_t hash(uint64_t hash, struct trk_cursor text)
{
    for (const char *at = text.at; at < text.end; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return hash;
}

static const uint64_t HASH_START = UINT64_C(0xcbf29ce484222325);

/* "55d0c7a4b000-55d0c7a4d000 r--p 00000000 08:01 131142   /usr/bin/cat" */
static bool take_heading(struct trk_smaps *smaps, struct trk_cursor line)
{
    struct trk_cursor device, inode;
    if (!trk__cursor_skip_words(&line, 3) || !trk__cursor_word(&line, &device) ||
        !trk__cursor_word(&line, &inode))
        return false;
    trk__cursor_skip_blanks(&line);
    bool is_file = !trk__cursor_equals(&inode, "0");
    smaps->key = is_file ? hash(hash(HASH_START, device), inode) : hash(HASH_START, line);
    smaps->mappings++;
    return true;
}

static void add_share(struct trk_smaps *smaps, uint64_t bytes)
{
    struct trk_smaps_share *last =
        smaps->share_count ? &smaps->share[smaps->share_count - 1] : NULL;
    if (!bytes)
        return;
    if (last && last->key == smaps->key) {
        last->bytes += bytes;
        return;
    }
    if (smaps->share_count == smaps->share_capacity) {
        uint32_t capacity = smaps->share_capacity ? smaps->share_capacity * 2 : 64;
        struct trk_smaps_share *share = capacity > TRK_SMAPS_SHARES_MAX
                                            ? NULL
                                            : realloc(smaps->share, capacity * sizeof *share);
        if (!share) {
            smaps->failure = -ENOMEM;
            return;
        }
        smaps->share = share;
        smaps->share_capacity = capacity;
    }
    smaps->share[smaps->share_count++] =
        (struct trk_smaps_share){.key = smaps->key, .bytes = bytes};
}

static void take_field(struct trk_smaps *smaps, struct trk_cursor line)
{
    uint64_t kib;
    bool is_private =
        trk__cursor_accept(&line, "Private_Clean:") || trk__cursor_accept(&line, "Private_Dirty:");
    if (!is_private && !trk__cursor_accept(&line, "Shared_Clean:") &&
        !trk__cursor_accept(&line, "Shared_Dirty:"))
        return;
    if (!trk__cursor_u64(&line, &kib) || kib > UINT64_MAX / KIB / 2)
        return;
    if (is_private)
        smaps->private_bytes += kib * KIB;
    else
        add_share(smaps, kib * KIB);
}

void trk__smaps_take(struct trk_smaps *smaps, struct trk_cursor text)
{
    struct trk_cursor line;
    while (trk__cursor_line(&text, &line)) {
        /* Fields begin with a capital, headings with an address. */
        bool is_field = line.at < line.end && *line.at >= 'A' && *line.at <= 'Z';
        if (!is_field)
            take_heading(smaps, line);
        else if (smaps->mappings)
            take_field(smaps, line);
    }
}

static int by_key(const void *a, const void *b)
{
    uint64_t left = ((const struct trk_smaps_share *)a)->key;
    uint64_t right = ((const struct trk_smaps_share *)b)->key;
    return (left > right) - (left < right);
}

int trk__smaps_end(struct trk_smaps *smaps)
{
    if (smaps->failure || !smaps->mappings)
        return smaps->failure ? smaps->failure : -ENODATA;
    if (smaps->share_count < 2)
        return 0;
    qsort(smaps->share, smaps->share_count, sizeof *smaps->share, by_key);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < smaps->share_count; i++) {
        if (smaps->share[i].key == smaps->share[kept].key)
            smaps->share[kept].bytes += smaps->share[i].bytes;
        else
            smaps->share[++kept] = smaps->share[i];
    }
    smaps->share_count = kept + 1;
    return 0;
}

/* Whole lines are taken, the rest is moved to the front. A line that fills the chunk is no line of the kernel's. */
static size_t take_lines(struct trk_smaps *smaps, char *chunk, size_t len)
{
    const char *end = memrchr(chunk, '\n', len);
    size_t whole = end ? (size_t)(end - chunk) + 1 : 0;
    trk__smaps_take(smaps, trk__cursor(chunk, whole));
    memmove(chunk, chunk + whole, len - whole);
    return len - whole == CHUNK_SIZE ? 0 : len - whole;
}

int trk__smaps_read(const struct trk_context *context, pid_t pid, struct trk_smaps *smaps)
{
    char path[PATH_SIZE], chunk[CHUNK_SIZE];
    trk__smaps_clear(smaps);
    snprintf(path, sizeof path, "%d/smaps", (int)pid);
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (size_t len = 0;;) {
        ssize_t got = read(fd, chunk + len, sizeof chunk - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        len = take_lines(smaps, chunk, len + (size_t)got);
    }
    return trk__smaps_end(smaps);
}
