/* Feeds a fuzz target every file of the folders and files that are named, without libFuzzer. */
#include "target.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

static int feed_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    /* An allocation of exactly its size, so that AddressSanitizer sees a read beyond the end. */
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (size < 0 || !data || fread(data, 1, (size_t)size, file) != (size_t)size)
        abort();
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;
}

static int feed(const char *path, size_t *count)
{
    DIR *dir = opendir(path);
    if (!dir) {
        *count += 1;
        return feed_file(path);
    }
    int failed = 0;
    for (struct dirent *entry; !failed && (entry = readdir(dir)) != NULL;) {
        char inner[4096];
        if (entry->d_name[0] != '.') {
            (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            failed = feed(inner, count);
        }
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++)
        if (feed(argv[i], &count) != 0) {
            perror(argv[i]);
            return 1;
        }
    plim_close(fuzz_context());
    printf("%zu inputs\n", count);
    return count ? 0 : 1;
}
