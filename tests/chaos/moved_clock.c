/* The clock on the wall as a process sees it, moved by the seconds that the file MOVED_CLOCK holds.

   Preloaded, it is what Python, SQLite and every other library of the process read. Clocks that only measure, as
   CLOCK_MONOTONIC does, stay as they are: a real jump leaves them alone, too. Debian's libfaketime 0.9.10 moves them
   along, or makes time.sleep() fail. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long moved(void)
{
    long seconds = 0;
    int kept = errno;
    const char *path = getenv("MOVED_CLOCK");
    FILE *file = path ? fopen(path, "re") : NULL;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1)
            seconds = 0;
        fclose(file);
    }
    errno = kept;
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += moved();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int failed = (int)syscall(SYS_gettimeofday, now, zone);
    if (!failed)
        now->tv_sec += moved();
    return failed;
}

time_t time(time_t *now)
{
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now)
        *now = found.tv_sec;
    return found.tv_sec;
}
