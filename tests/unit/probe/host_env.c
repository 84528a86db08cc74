/* What a machine runs in: traces of containers, hypervisors and clouds. */
#include "scene.h"

#define ID "1c8fa019edd4b9d4b2856f4932c55929c5c118c808ed5faee9a135ca6e84b039"

static void containers_leave_traces(void **state)
{
    static const struct {
        const char *entry, *body, *container; /* NULL: none */
        bool kubernetes;
    } cases[] = {
        {"file /proc/self/cgroup", "0::/system.slice/docker-" ID ".scope", "docker", false},
        {"file /proc/self/cgroup", "4:memory:/docker/" ID, "docker", false},
        {"file /proc/self/cgroup", "0::/system.slice/docker.service", NULL, false},
        {"file /proc/self/cgroup", "0::/system.slice/docker-registry.service", NULL, false},
        {"file /proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope", NULL, false},
        {"file /proc/self/cgroup",
         "0::/kubepods.slice/kubepods-pod1_2.slice/cri-containerd-" ID ".scope", "containerd",
         true},
        {"file /proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1_2.slice/crio-" ID ".scope",
         "cri-o", true},
        {"file /proc/self/cgroup", "5:cpu:/kubepods/burstable/pod1-2/" ID, "kubernetes", true},
        {"file /proc/self/cgroup", "0::/machine.slice/libpod-" ID ".scope/container", "podman",
         false},
        {"file /proc/self/cgroup", "0::/lxc.payload.web/init.scope", "lxc", false},
        {"file /run/.containerenv", "", "podman", false},
        {"file /.dockerenv", "", "docker", false},
        {"file /run/systemd/container", "systemd-nspawn", "systemd-nspawn", false},
        {"env container", "lxc", "lxc", false},
        {"env KUBERNETES_SERVICE_HOST", "10.0.0.1", NULL, true},
        {"file /proc/self/mountinfo",
         "1 0 0:50 / / rw - overlay overlay rw,upperdir=/var/lib/docker/overlay2/x/diff", "docker",
         false},
        {"file /proc/self/mountinfo",
         "1 0 8:1 /var/lib/docker/containers/x/hostname /etc/hostname rw - ext4 /dev/sda1 rw",
         "docker", false},
        {"file /proc/self/mountinfo", /* a host with a container on it */
         "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / /var/lib/docker/overlay2/x/merged rw - "
         "overlay overlay rw,upperdir=/var/lib/docker/overlay2/x/diff",
         NULL, false},
        {"file /proc/self/mountinfo",
         "1 0 0:60 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw", "lxc", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        scene s;
        scene_begin(&s);
        put(&s, cases[i].entry, cases[i].body);
        const plim_environment *e = detect(&s)->environment;
        if (cases[i].container)
            assert_text(environment, e, container, cases[i].container);
        else
            assert_unknown(environment, e, container);
        assert_int_equal(e && PLIM_KNOWN(environment, e, kubernetes) && e->kubernetes,
                         cases[i].kubernetes);
        scene_end(&s);
    }
}

/* A virtual machine whose disk was made from an image keeps the image's mark. */
static void a_disk_of_its_own_is_no_container(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/.dockerenv", "");
    put_file(&s, "/proc/self/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw");
    assert_unknown(environment, detect(&s)->environment, container);
    scene_end(&s);
}

#define DMI "file /sys/class/dmi/id/"
#define GUEST "processor : 0\nflags : fpu hypervisor\n"

static void hypervisors_and_clouds(void **state)
{
    static const struct {
        const char *entry, *body, *entry2, *body2;
        const char *virtualization, *cloud;
    } cases[] = {
        {DMI "sys_vendor", "QEMU", DMI "product_name", "KVM Virtual Machine", "kvm", NULL},
        {DMI "sys_vendor", "QEMU", DMI "product_name", "Standard PC (Q35)", "qemu", NULL},
        {DMI "sys_vendor", "VMware, Inc.", DMI "product_name", "VMware7,1", "vmware", NULL},
        {DMI "bios_vendor", "innotek GmbH", DMI "product_name", "VirtualBox", "virtualbox", NULL},
        {DMI "sys_vendor", "Microsoft Corporation", DMI "product_name", "Virtual Machine", "hyperv",
         NULL},
        {DMI "product_name", "Virtual Machine", DMI "chassis_asset_tag",
         "7783-7084-3265-9085-8269-3286-77", "hyperv", "azure"},
        {DMI "sys_vendor", "Microsoft Corporation", DMI "product_name", "Surface Laptop 4", NULL,
         NULL},
        {DMI "sys_vendor", "Google", DMI "product_name", "Google Compute Engine", "kvm", "gcp"},
        {DMI "sys_vendor", "Amazon EC2", DMI "product_name", "g5.xlarge", "kvm", "aws"},
        {DMI "sys_vendor", "Amazon EC2", DMI "product_name", "g4dn.metal", NULL, "aws"},
        {DMI "sys_vendor", "Dell Inc.", DMI "product_name", "PowerEdge R740", NULL, NULL},
        {"file /proc/cpuinfo", GUEST, "cpuid 40000000 0", "40000010 61774d56 4d566572 65726177",
         "vmware", NULL},
        {"file /proc/cpuinfo", GUEST, "cpuid 40000000 0", "40000001 4b4d564b 564b4d56 0000004d",
         "firecracker", NULL},
        {"cpuid 1 0", "000806f8 00020800 fffa3203 178bfbff", "cpuid 40000000 0",
         "40000001 4b4d564b 564b4d56 0000004d", "firecracker", NULL},
        {"file /proc/cpuinfo", GUEST, "file /a", "", "other", NULL},
        {"query - host.uname hex",
         "\"Linux\" 00 \"4.4.0\" 00 \"#1 SMP Sun Jan 10 15:06:54 PST 2016\" 00 \"x86_64\" 00",
         "file /a", "", "gvisor", NULL},
        {"file /proc/device-tree/hypervisor/compatible", "linux,kvm", "file /a", "", "kvm", NULL},
        {"file /sys/hypervisor/type", "xen", "file /proc/xen/capabilities", "", "xen", NULL},
        {"file /sys/hypervisor/type", "xen", "file /proc/xen/capabilities", "control_d", NULL,
         NULL},
        {"file /proc/cpuinfo", "processor : 0\nmachine : CHRP IBM pSeries (emulated by qemu)\n",
         "file /a", "", "kvm", NULL},
        {"file /proc/cpuinfo", "vendor_id : IBM/S390\n", "file /proc/sysinfo",
         "LPAR Name: X\nVM00 Control Program: z/VM    7.3.0\n", "zvm", NULL},
        {"env RUNPOD_POD_ID", "abc", "file /a", "", NULL, "runpod"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        scene s;
        scene_begin(&s);
        put(&s, cases[i].entry, cases[i].body);
        put(&s, cases[i].entry2, cases[i].body2);
        put_file(&s, "/sys/devices/virtual/mem/null/dev", "1:3"); /* sysfs is there */
        const plim_environment *e = detect(&s)->environment;
        const char *v = e && PLIM_KNOWN(environment, e, virtualization) ? e->virtualization : "-";
        const char *c = e && PLIM_KNOWN(environment, e, cloud) ? e->cloud : "-";
        if (strcmp(v, cases[i].virtualization ? cases[i].virtualization : "-") != 0 ||
            strcmp(c, cases[i].cloud ? cases[i].cloud : "-") != 0)
            fail_msg("%s, %s: %s in %s", cases[i].body, cases[i].body2, v, c);
        scene_end(&s);
    }
}

/* Without sysfs nobody can say that there is no firmware. */
static void a_guest_without_sysfs_is_kvm(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/cpuinfo", GUEST);
    put(&s, "cpuid 40000000 0", "40000001 4b4d564b 564b4d56 0000004d");
    const plim_environment *e = detect(&s)->environment;
    assert_text(environment, e, virtualization, "kvm");
    assert_string_equal(e->head.source[PLIM_F_environment_virtualization], "cpuid");
    scene_end(&s);
}

/* An owner's inventory number is nobody's business. */
static void asset_tags_are_kept_to_clouds(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put(&s, DMI "sys_vendor", "Dell Inc.");
    put(&s, DMI "chassis_asset_tag", "INV-0815");
    const plim_environment *e = detect(&s)->environment;
    assert_text(environment, e, dmi_sys_vendor, "Dell Inc.");
    assert_unknown(environment, e, dmi_chassis_asset_tag);
    scene_end(&s);
    scene_begin(&s);
    put(&s, DMI "chassis_asset_tag", "OracleCloud.com");
    e = detect(&s)->environment;
    assert_text(environment, e, dmi_chassis_asset_tag, "OracleCloud.com");
    assert_text(environment, e, cloud, "oracle");
    scene_end(&s);
}

static void windows_below_is_told_by_the_release(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_file(&s, "/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2");
    assert_known(environment, detect(&s)->environment, wsl, true);
    scene_end(&s);
    scene_begin(&s);
    put_file(&s, "/proc/sys/kernel/osrelease", "6.1.0-18-amd64");
    assert_known(environment, detect(&s)->environment, wsl, false);
    scene_end(&s);
}

static void a_board_names_itself(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put(&s, "file /proc/device-tree/model hex", "\"Raspberry Pi 5 Model B Rev 1.0\" 00");
    assert_text(environment, detect(&s)->environment, device_tree_model,
                "Raspberry Pi 5 Model B Rev 1.0");
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_leave_traces),
        cmocka_unit_test(a_disk_of_its_own_is_no_container),
        cmocka_unit_test(hypervisors_and_clouds),
        cmocka_unit_test(a_guest_without_sysfs_is_kvm),
        cmocka_unit_test(asset_tags_are_kept_to_clouds),
        cmocka_unit_test(windows_below_is_told_by_the_release),
        cmocka_unit_test(a_board_names_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
