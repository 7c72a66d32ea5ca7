/* Makes writes and syncs of the database in a data folder fail, for a server with LD_PRELOAD. The
   file that the variable FAULTS names has the call ("write" or "sync"), the number of the error, and
   how many calls succeed before. Without the file none fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(const char *call, int fd)
{
    static int seen;
    int before = errno, error = 0, skip = 0;
    char link[64], path[4096], name[16] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    if (!strstr(path, "promptarium.db"))
        return 0;
    FILE *file = fopen(getenv("FAULTS"), "r");
    if (!file) {
        seen = 0;
    } else {
        if (fscanf(file, "%15s %d %d", name, &error, &skip) != 3)
            error = 0;
        fclose(file);
    }
    int does = error && !strcmp(name, call) && seen++ >= skip;
    errno = does ? error : before;
    return does;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *from, size_t size)
{
    return fails("write", fd) ? -1 : REAL(ssize_t, write, int, const void *, size_t)(fd, from, size);
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    return fails("write", fd) ? -1
                              : REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, from, size, at);
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
{
    return fails("write", fd) ? -1
                              : REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)(fd, from, size, at);
}
int fsync(int fd)
{
    return fails("sync", fd) ? -1 : REAL(int, fsync, int)(fd);
}
int fdatasync(int fd)
{
    return fails("sync", fd) ? -1 : REAL(int, fdatasync, int)(fd);
}
