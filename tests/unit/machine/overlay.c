/* A machine with a recording laid over it. */
#include "machine/machine.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/limits.h"

struct fixture {
    pli_machine *inner, *over, *m;
    pli_arena *arena;
};

static void lay(struct fixture *f, const char *inner, const char *over)
{
    f->arena = pli_arena_new(NULL, PLI_MAX_ARENA);
    assert_int_equal(pli_machine_text(NULL, pli_s(inner), "inner", NULL, &f->inner), PLIM_OK);
    assert_int_equal(pli_machine_text(NULL, pli_s(over), "over", NULL, &f->over), PLIM_OK);
    assert_int_equal(pli_machine_overlay(NULL, f->inner, f->over, &f->m), PLIM_OK);
}

static void done(struct fixture *f)
{
    pli_machine_close(f->m);
    pli_machine_close(f->over);
    pli_machine_close(f->inner);
    pli_arena_free(f->arena);
}

static const char *text(struct fixture *f, const char *path)
{
    pli_str content;
    plim_status status = pli_read(f->m, f->arena, path, &content);
    return status == PLIM_OK ? content.p : plim_status_name(status);
}

static const char *names(struct fixture *f, const char *path)
{
    static char joined[256];
    pli_names list;
    plim_status status = pli_list(f->m, f->arena, path, &list);
    joined[0] = '\0';
    for (size_t i = 0; i < list.count; i++)
        (void)snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s ",
                       list.items[i]);
    return status == PLIM_OK ? joined : plim_status_name(status);
}

static void files_are_laid_over(void **state)
{
    (void)state;
    struct fixture f;
    lay(&f,
        "-- file /d/a --\n1\n-- file /d/b --\n2\n-- file /e/x --\n3\n-- link /l --\na\n"
        "-- file /d/c --\n4\n-- file /f/y --\n5\n",
        "-- file /d/b --\ntwo\n-- file /d/n --\nnew\n-- file /d/c failed=NOT_FOUND --\n"
        "-- dir /e --\n-- denied /f/y --\n-- link /l --\nb\n");
    assert_string_equal(text(&f, "/d/a"), "1\n");
    assert_string_equal(text(&f, "/d/b"), "two\n");
    assert_string_equal(text(&f, "/d/n"), "new\n");
    assert_string_equal(text(&f, "/d/c"), "NOT_FOUND");
    assert_string_equal(text(&f, "/f/y"), "PERMISSION");
    assert_string_equal(names(&f, "/d"), "a b c n ");
    assert_string_equal(names(&f, "/e"), "");
    assert_string_equal(names(&f, "/f"), "y ");
    assert_string_equal(names(&f, "/none"), "NOT_FOUND");
    assert_string_equal(pli_link_namef(f.m, f.arena, "/l"), "b");
    assert_true(pli_exists(f.m, "/d/a") && pli_exists(f.m, "/d/n"));
    assert_false(pli_exists(f.m, "/d/c"));
    void *file;
    pli_buf out;
    pli_buf_init(&out, NULL, 100);
    assert_int_equal(f.m->ops->open(f.m, "/d/b", &file), PLIM_OK);
    assert_int_equal(f.m->ops->reread(f.m, file, &out), PLIM_OK);
    f.m->ops->close(f.m, file);
    assert_int_equal(f.m->ops->open(f.m, "/d/c", &file), PLIM_NOT_FOUND);
    assert_string_equal(out.p, "two\n");
    pli_buf_free(&out);
    done(&f);
}

static int ask(pli_machine *m, const char *name)
{
    int rc, (*fn)(void) = NULL;
    PLI_CALL(m, rc, fn, name, "0", PLI_NO_OUTS, ());
    return rc;
}

static void other_answers_are_laid_over(void **state)
{
    (void)state;
    struct fixture f;
    lay(&f,
        "-- facts --\narch=s390x\n-- env A --\n1\n-- env B --\n1\n-- lib x failed=VERSION --\n"
        "-- call f 0 rc=1 --\n-- call g 0 rc=1 --\n-- cpuid 0 0 --\n1 1 1 1\n"
        "-- query - q --\nold\n-- run t exit=1 --\n",
        "-- env B --\n2\n-- lib x --\n-- call g 0 rc=2 --\n-- cpuid 0 0 --\n2 2 2 2\n"
        "-- query - q --\nnew\n-- run t exit=2 --\n");
    static const pli_lib x = {.id = "x"}, y = {.id = "y"};
    static const char *const tool[] = {"t", NULL};
    uint32_t r[4];
    char out[8];
    size_t n;
    pli_run run = {.exit_status = 0};
    pli_buf_init(&run.out, NULL, 100);
    pli_buf_init(&run.err, NULL, 100);
    assert_string_equal(f.m->facts.arch, "s390x");
    assert_string_equal(pli_env(f.m, "A"), "1");
    assert_string_equal(pli_env(f.m, "B"), "2");
    assert_int_equal(f.m->ops->lib(f.m, &x, NULL), PLIM_OK);
    assert_int_equal(f.m->ops->lib(f.m, &y, NULL), PLIM_UNSUPPORTED);
    assert_int_equal(ask(f.m, "f"), 1);
    assert_int_equal(ask(f.m, "g"), 2);
    assert_int_equal(ask(f.m, "h"), PLI_CALL_MISSING);
    assert_true(f.m->ops->cpuid(f.m, 0, 0, r));
    assert_int_equal(r[3], 2);
    assert_int_equal(pli_query(f.m, "-", "q", NULL, 0, out, sizeof out, &n), PLIM_OK);
    assert_memory_equal(out, "new\n", 4);
    assert_int_equal(f.m->ops->run(f.m, tool, 1, &run), PLIM_OK);
    assert_int_equal(run.exit_status, 2);
    pli_buf_free(&run.out);
    pli_buf_free(&run.err);
    done(&f);
}

static void look(pli_machine *m, void *arg)
{
    const char *value = pli_env(m, "PLIM_OVERLAY");
    *(bool *)arg = value && strcmp(value, "yes") == 0 && pli_exists(m, "/proc/self/stat");
}

static void isolation_sees_the_overlay(void **state)
{
    (void)state;
    pli_machine *live, *over, *m;
    pli_isolation end;
    bool saw = false;
    assert_int_equal(pli_machine_live(NULL, &live), PLIM_OK);
    assert_int_equal(
        pli_machine_text(NULL, PLI_LIT("-- env PLIM_OVERLAY --\nyes\n"), "over", NULL, &over),
        PLIM_OK);
    assert_int_equal(pli_machine_overlay(NULL, live, live, &m), PLIM_INVALID);
    assert_int_equal(pli_machine_overlay(NULL, live, over, &m), PLIM_OK);
    m->ops->isolate(m, "test", look, &saw, 5000, &end);
    assert_int_equal(end.status, PLIM_OK);
    assert_true(saw);
    pli_machine_close(m);
    pli_machine_close(over);
    pli_machine_close(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_laid_over),
        cmocka_unit_test(other_answers_are_laid_over),
        cmocka_unit_test(isolation_sees_the_overlay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
