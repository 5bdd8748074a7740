/* Packs the tables of data/ into C: pack_catalog NAME=FILE[+FILE]... writes a source on standard output with the deflated
 * text of each name. Runs on the machine that builds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TEXT_MAX = 4 << 20, COLUMNS = 24 };

static int fail(const char *what)
{
    perror(what);
    return 1;
}

/* Appends the file, with an empty line between it and what stands before. */
static int append_file(const char *path, unsigned char *text, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(path);
    if (*len)
        text[(*len)++] = '\n';
    *len += fread(text + *len, 1, TEXT_MAX - *len, file);
    int failed = ferror(file) || *len == TEXT_MAX;
    fclose(file);
    return failed ? fail(path) : 0;
}

static void print_bytes(unsigned index, const unsigned char *data, size_t len)
{
    /* A section of its own keeps them out of the pages that every run touches. */
    printf("__attribute__((section(\".trk_packed\"))) static const unsigned char chunk%u[] = {",
           index);
    for (size_t i = 0; i < len; i++)
        printf("%s%u,", i % COLUMNS ? "" : "\n", data[i]);
    printf("\n};\n");
}

static int pack(unsigned index, char *files, size_t *ret_len)
{
    unsigned char *text = malloc(TEXT_MAX), *packed = malloc(compressBound(TEXT_MAX));
    uLongf packed_len = compressBound(TEXT_MAX);
    size_t len = 0;
    int status = text && packed ? 0 : fail("memory");
    for (char *path = strtok(files, "+"); path && status == 0; path = strtok(NULL, "+"))
        status = append_file(path, text, &len);
    if (status == 0 && compress2(packed, &packed_len, text, len, Z_BEST_COMPRESSION) != Z_OK)
        status = fail("compress2");
    if (status == 0)
        print_bytes(index, packed, packed_len);
    free(text);
    free(packed);
    *ret_len = len;
    return status;
}

int main(int argc, char *argv[])
{
    size_t len[32];
    if (argc < 2 || argc > 32)
        return 2;
    printf("/* Made by tools/pack_catalog from data/. */\n#include \"catalog/chunk.h\"\n\n");
    for (int i = 1; i < argc; i++) {
        char *files = strchr(argv[i], '=');
        if (!files)
            return 2;
        *files++ = '\0';
        if (pack((unsigned)i, files, &len[i]))
            return 1;
    }
    printf("const struct trk_chunk trk__chunks[] = {\n");
    for (int i = 1; i < argc; i++)
        printf("    {\"%s\", chunk%d, sizeof chunk%d, %zu},\n", argv[i], i, i, len[i]);
    printf("    {0, 0, 0, 0},\n};\n");
    return fflush(stdout) || ferror(stdout) ? fail("standard output") : 0;
}
