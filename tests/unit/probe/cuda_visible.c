/* CUDA_VISIBLE_DEVICES by the rules of the CUDA C++ Programming Guide, "CUDA Environment
 * Variables". */
#include "../test.h"
#include "fake_nvml.h"

#include <string.h>

#define VISIBLE(list) "-- env CUDA_VISIBLE_DEVICES nonl --\n" list "\n"
#define BY_BUS "-- env CUDA_DEVICE_ORDER nonl --\nPCI_BUS_ID\n"

/* One letter for each device: s shown, h hidden, - not usable anyway. */
static void look(const char *files, const char *machine, const char *want)
{
    plim_machine *m = fake_detect(files, machine, NULL);
    char got[64] = "";
    assert_true(m->devices.count < sizeof got);
    for (size_t i = 0; i < m->devices.count; i++) {
        const plim_device *d = fake_device(m, i);
        const char *why = PLIM_KNOWN(device, d, why_unavailable) ? d->why_unavailable : "";
        got[i] = d->available ? 's' : strstr(why, "CUDA_VISIBLE_DEVICES") ? 'h' : '-';
    }
    assert_string_equal(got, want);
    plim_machine_free(m);
}

static void numbers(void **state)
{
    (void)state;
    look(FAKE_H100X8_FILES, "h100x8", "ssssssss");
    look(FAKE_H100X8_FILES VISIBLE("0,1"), "h100x8", "sshhhhhh");
    look(FAKE_H100X8_FILES VISIBLE("7, 2"), "h100x8", "hhshhhhs");
    look(FAKE_H100X8_FILES VISIBLE("2,8,3"), "h100x8", "hhshhhhh"); /* ends at the 8 */
    look(FAKE_H100X8_FILES VISIBLE("-1"), "h100x8", "hhhhhhhh");
    look(FAKE_H100X8_FILES VISIBLE("1,-1,2"), "h100x8", "hshhhhhh");
    look(FAKE_H100X8_FILES VISIBLE("NoDevFiles"), "h100x8", "hhhhhhhh");
    look(FAKE_H100X8_FILES VISIBLE(""), "h100x8", "hhhhhhhh");
}

static void uuids(void **state)
{
    (void)state;
    look(FAKE_H100X8_FILES VISIBLE("GPU-6f3a1d03,GPU-6f3a1d05-4c2e"), "h100x8", "hhhshshh");
    look(FAKE_H100X8_FILES VISIBLE("GPU-6f3a"), "h100x8", "hhhhhhhh"); /* of several */
    look(FAKE_GPU("0000:83:00.0", "2335", "nvidia")
             VISIBLE("MIG-1b9f4a73-52c6-5d03-8e1f-c0a94d7b63e3"),
         "h200-mig", "-hhshh");
}

/* Two kinds: the fastest is number 0, unless the bus decides. */
static void kinds(void **state)
{
    (void)state;
    look(FAKE_H100X8_FILES VISIBLE("1"), "h100x2-mixed", "ss------");
    look(FAKE_H100X8_FILES VISIBLE("1") BY_BUS, "h100x2-mixed", "hs------");
    look(FAKE_H100X8_FILES VISIBLE("GPU-6f3a1d01"), "h100x2-mixed", "hs------");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(uuids),
        cmocka_unit_test(kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
