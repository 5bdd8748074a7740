/* embed NAME OUTPUT [INPUT]: the bytes of a file as a C array NAME with its length NAME_len. Without INPUT, or where it
 * is empty, the length is 0. Runs at build time. */
#include <stdbool.h>
#include <stdio.h>

static size_t put_bytes(FILE *input, FILE *output)
{
    size_t count = 0;
    for (int byte; input && (byte = getc(input)) != EOF; count++)
        fprintf(output, "%s%d,", count % 32 ? "" : "\n", byte);
    return count;
}

int main(int argc, char *argv[])
{
    if (argc < 3)
        return 2;
    FILE *input = argc > 3 ? fopen(argv[3], "rb") : NULL;
    if (argc > 3 && !input) {
        perror(argv[3]);
        return 1;
    }
    FILE *output = fopen(argv[2], "w");
    if (!output) {
        perror(argv[2]);
        if (input)
            fclose(input);
        return 1;
    }
    fprintf(output,
            "#include <stddef.h>\n\nextern const unsigned char %s[];\nextern const size_t %s_len;\n"
            "__attribute__((section(\".trk_packed\"))) const unsigned char %s[] = {",
            argv[1], argv[1], argv[1]);
    size_t count = put_bytes(input, output);
    fprintf(output, "0};\nconst size_t %s_len = %zu;\n", argv[1], count);
    bool failed = input && ferror(input);
    if (input)
        fclose(input);
    return fclose(output) || failed ? 1 : 0;
}
