/* A directory tree in place of a machine. */
#include <plimsoll/plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/machine.h"

#include "../test.h"

struct tree {
    char path[64];
    pli_machine *m;
    pli_arena *arena;
};

static void put(const struct tree *t, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", t->path, path);
    for (char *at = full + strlen(t->path) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void join(const struct tree *t, const char *path, const char *target)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", t->path, path);
    assert_int_equal(symlink(target, full), 0);
}

static int set_up(void **state)
{
    static struct tree t;
    strcpy(t.path, "/tmp/plimsoll-root-XXXXXX");
    assert_non_null(mkdtemp(t.path));
    put(&t, "/sys/devices/pci0000:00/0000:03:00.0/vendor", "0x1002\n");
    put(&t, "/sys/bus/pci/drivers/amdgpu/bind", "");
    put(&t, "/sys/bus/pci/devices/keep", "x\n");
    assert_int_equal(pli_machine_root(NULL, t.path, NULL, &t.m), PLIM_OK);
    t.arena = pli_arena_new(NULL, 1 << 20);
    assert_non_null(t.arena);
    *state = &t;
    return 0;
}

static int tear_down(void **state)
{
    struct tree *t = *state;
    char command[128];
    pli_machine_close(t->m);
    pli_arena_free(t->arena);
    snprintf(command, sizeof command, "rm -rf %s", t->path);
    return system(command);
}

static void assert_device(struct tree *t)
{
    pli_str vendor =
        pli_read_wordf(t->m, t->arena, "/sys/bus/pci/devices/%s/vendor", "0000:03:00.0");
    assert_true(pli_eq(vendor, "0x1002"));
    assert_string_equal(
        pli_link_namef(t->m, t->arena, "/sys/bus/pci/devices/%s/driver", "0000:03:00.0"), "amdgpu");
}

static void links_stay_inside(void **state)
{
    struct tree *t = *state;
    join(t, "/sys/bus/pci/devices/0000:03:00.0", "../../../devices/pci0000:00/0000:03:00.0");
    join(t, "/sys/devices/pci0000:00/0000:03:00.0/driver", "/sys/bus/pci/drivers/amdgpu");
    assert_device(t);
    join(t, "/out", "../../../../../../etc");
    assert_false(pli_exists(t->m, "/out/passwd"));
}

static void files_that_hold_a_target_stand_for_links(void **state)
{
    struct tree *t = *state;
    put(t, "/sys/bus/pci/devices/0000:03:00.0", "../../../devices/pci0000:00/0000:03:00.0");
    put(t, "/sys/devices/pci0000:00/0000:03:00.0/driver", "../../../bus/pci/drivers/amdgpu");
    assert_device(t);
    put(t, "/sys/loop", "../sys/loop");
    assert_false(pli_exists(t->m, "/sys/loop/x"));
    put(t, "/sys/text", "../sys/devices\n");
    assert_false(pli_exists(t->m, "/sys/text/pci0000:00"));
    assert_null(pli_link_namef(t->m, t->arena, "/sys/%s", "text"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_stay_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_hold_a_target_stand_for_links, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
