/* Peak resident memory of a program in KiB: bench_peak PROGRAM [ARGS...]. Its output is thrown
 * away. A small parent on purpose: until it calls exec, a child has its parent's pages. */
#define _DEFAULT_SOURCE /* wait4 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    int status;
    pid_t child;
    if (argc < 2 || posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) != 0)
        return 2;
    if (posix_spawnp(&child, argv[1], &actions, NULL, argv + 1, environ) != 0 ||
        wait4(child, &status, 0, &usage) != child) {
        perror(argv[1]);
        return 1;
    }
    printf("%ld\n", usage.ru_maxrss);
    posix_spawn_file_actions_destroy(&actions);
    return 0;
}
