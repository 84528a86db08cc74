/* Disks, and the ones behind the models. */
#include "scene.h"

static const plim_storage *disk_named(const plim_machine *m, const char *name)
{
    for (size_t i = 0; i < m->storage.count; i++) {
        const plim_storage *disk = m->storage.items[i];
        if (strcmp(disk->name, name) == 0)
            return disk;
    }
    return NULL;
}

static void put_link(scene *s, const char *path, const char *target)
{
    char entry[512];
    (void)snprintf(entry, sizeof entry, "link %s", path);
    put(s, entry, target);
}

/* A whole disk: its folder in the devices' tree, and the links to it. */
static void put_disk(scene *s, const char *name, const char *bus, const char *number)
{
    char path[256], target[256];
    (void)snprintf(path, sizeof path, "/sys/devices/%s/%s/size", bus, name);
    put_file(s, path, "2000");
    (void)snprintf(target, sizeof target, "../devices/%s/%s", bus, name);
    (void)snprintf(path, sizeof path, "/sys/block/%s", name);
    put_link(s, path, target);
    (void)snprintf(target, sizeof target, "../../devices/%s/%s", bus, name);
    (void)snprintf(path, sizeof path, "/sys/class/block/%s", name);
    put_link(s, path, target);
    (void)snprintf(path, sizeof path, "/sys/dev/block/%s", number);
    put_link(s, path, target);
}

static void put_partition(scene *s, const char *disk, const char *name, const char *bus,
                          const char *number)
{
    char path[256], target[256];
    (void)snprintf(path, sizeof path, "/sys/devices/%s/%s/%s/partition", bus, disk, name);
    put_file(s, path, "1");
    (void)snprintf(target, sizeof target, "../../devices/%s/%s/%s", bus, disk, name);
    (void)snprintf(path, sizeof path, "/sys/class/block/%s", name);
    put_link(s, path, target);
    (void)snprintf(path, sizeof path, "/sys/dev/block/%s", number);
    put_link(s, path, target);
}

/* A device-mapper or md device over others. */
static void put_layer(scene *s, const char *name, const char *number, const char *const *below)
{
    char path[256];
    put_disk(s, name, "virtual/block", number);
    for (; *below; below++) {
        (void)snprintf(path, sizeof path, "/sys/devices/virtual/block/%s/slaves/%s", name, *below);
        put_link(s, path, "../x");
    }
}

/* What statfs and stat say of a directory: struct pli_fs_space, little-endian. */
static void put_space(scene *s, const char *path, unsigned major, unsigned minor)
{
    char entry[256], body[256];
    (void)snprintf(entry, sizeof entry, "query %s fs.space hex", path);
    (void)snprintf(body, sizeof body, "53ef000000000000 +8 +8 %02x +7 %02x +7", major, minor);
    put(s, entry, body);
}

static void kinds_follow_the_transport(void **state)
{
    static const struct {
        const char *name, *bus, *vendor, *model, *rotational, *kind;
    } cases[] = {
        {"sda", "pci0/ata1/host0/block", "ATA", "ST4000NM0035", "1", "hdd"},
        {"sda", "pci0/ata1/host0/block", "ATA", "Samsung SSD 860", "0", "ssd"},
        {"sda", "pci0/host0/end_device-0:0/block", "SEAGATE", "ST1200MM0009", "1", "hdd"},
        {"sda", "pci0/virtio1/host0/block", "QEMU", "QEMU HARDDISK", "1", "virtual"},
        {"sda", "pci0/ata1/host0/block", "ATA", "QEMU HARDDISK", "1", "virtual"},
        {"sda", "pci0/ata1/host0/block", "ATA", "VBOX HARDDISK", "1", "virtual"},
        {"sda", "LNXSYSTM:00/VMBUS:00/host0/block", "Msft", "Virtual Disk", "1", "virtual"},
        {"sda", "pci0/host0/block", "VMware", "Virtual disk", "1", "virtual"},
        {"sda", "pci0/host0/block", "DELL", "PERC H730 Mini", "1", "unknown"},
        {"sda", "pci0/host0/rport-0:0/block", "IBM", "2107900", "0", "unknown"},
        {"sda", "pci0/usb1/host0/block", "Generic", "Flash Disk", "1", "unknown"},
        {"sda", "pci0/usb1/host0/block", "Samsung", "PSSD T7", "0", "ssd"},
        {"vda", "pci0/virtio2/block", "0x1af4", "", "1", "virtual"},
        {"xvda", "vbd-51712/block", "", "", "0", "virtual"},
        {"nvme0n1", "pci0/nvme/nvme0", "", "SAMSUNG MZ1LB960", "0", "nvme"},
        {"nvme0n1", "pci0/nvme/nvme0", "", "QEMU NVMe Ctrl", "0", "virtual"},
        {"mmcblk0", "platform/mmc0/block", "", "", "0", "ssd"},
        {"sda", "pci0/ata1/host0/block", "ATA", "no flag", "", "unknown"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const files[] = {"device/vendor", "device/model", "queue/rotational"};
        const char *const bodies[] = {cases[i].vendor, cases[i].model, cases[i].rotational};
        scene s;
        scene_begin(&s);
        put_disk(&s, cases[i].name, cases[i].bus, "8:0");
        for (size_t k = 0; k < COUNT(files); k++) {
            char path[256];
            (void)snprintf(path, sizeof path, "/sys/devices/%s/%s/%s", cases[i].bus, cases[i].name,
                           files[k]);
            put_file(&s, path, bodies[k]);
        }
        const plim_storage *disk = disk_named(detect(&s), cases[i].name);
        assert_non_null(disk);
        if (strcmp(disk->kind, cases[i].kind) != 0)
            fail_msg("%s %s: %s", cases[i].bus, cases[i].model, disk->kind);
        assert_known(storage, disk, size_bytes, 1024000);
        scene_end(&s);
    }
}

static void layers_and_empty_slots_are_no_disks(void **state)
{
    static const char *const names[] = {"loop0", "ram0",  "zram0",    "sr0",
                                        "dm-0",  "md127", "nvme0c0n1"};
    scene s;
    (void)state;
    scene_begin(&s);
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/sys/block/%s/size", names[i]);
        put_file(&s, path, "100");
    }
    put_file(&s, "/sys/block/sdz/size", "0");
    put_file(&s, "/sys/block/sdb/removable", "0"); /* without a size: named all the same */
    put_file(&s, "/sys/block/sdc/size", "36028797018963968"); /* overflows in bytes */
    const plim_machine *m = detect(&s);
    assert_int_equal(m->storage.count, 2);
    assert_unknown(storage, disk_named(m, "sdb"), size_bytes);
    assert_unknown(storage, disk_named(m, "sdc"), size_bytes);
    scene_end(&s);
}

/* /sys/class/block alone has the partitions too. */
static void partitions_are_no_disks(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_link(&s, "/sys/class/block/sda", "../../devices/pci0/block/sda");
    put_link(&s, "/sys/class/block/sda1", "../../devices/pci0/block/sda/sda1");
    put_link(&s, "/sys/class/block/nvme0n1", "../../devices/pci0/nvme/nvme0/nvme0n1");
    put_link(&s, "/sys/class/block/nvme0n1p2", "../../devices/pci0/nvme/nvme0/nvme0n1/nvme0n1p2");
    put_file(&s, "/sys/devices/pci0/block/sda/sda1/partition", "1");
    const plim_machine *m = detect(&s);
    assert_int_equal(m->storage.count, 2);
    assert_non_null(disk_named(m, "sda"));
    assert_non_null(disk_named(m, "nvme0n1"));
    scene_end(&s);
}

static const char *models_path(const plim_machine *m, const char *name)
{
    const plim_storage *disk = disk_named(m, name);
    return disk && PLIM_KNOWN(storage, disk, models_path) ? disk->models_path : "-";
}

/* An encrypted volume on two NVMe partitions in a RAID; a third disk beside them. */
static void models_are_traced_through_layers(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "nvme0n1", "pci0/nvme/nvme0", "259:0");
    put_disk(&s, "nvme1n1", "pci1/nvme/nvme1", "259:1");
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_partition(&s, "nvme0n1", "nvme0n1p2", "pci0/nvme/nvme0", "259:3");
    put_partition(&s, "nvme1n1", "nvme1n1p2", "pci1/nvme/nvme1", "259:4");
    put_layer(&s, "md0", "9:0", (const char *const[]){"nvme0n1p2", "nvme1n1p2", NULL});
    put_layer(&s, "dm-0", "253:0", (const char *const[]){"md0", NULL});
    put(&s, "env HOME", "/home/u");
    put_space(&s, "/home/u/.cache/huggingface", 253, 0);
    const plim_machine *m = detect(&s);
    assert_string_equal(models_path(m, "nvme0n1"), "/home/u/.cache/huggingface");
    assert_string_equal(models_path(m, "nvme1n1"), "/home/u/.cache/huggingface");
    assert_string_equal(models_path(m, "sda"), "-");
    scene_end(&s);
}

static void variables_name_the_directory_first(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_disk(&s, "sdb", "pci0/ata2/block", "8:16");
    put_partition(&s, "sdb", "sdb1", "pci0/ata2/block", "8:17");
    put(&s, "env HOME", "/home/u");
    put(&s, "env OLLAMA_MODELS", "/srv/models");
    put(&s, "env HF_HOME", "/not/there");
    put_space(&s, "/home/u", 8, 0);
    put_space(&s, "/srv/models", 8, 17);
    const plim_machine *m = detect(&s);
    assert_string_equal(models_path(m, "sda"), "-");
    assert_string_equal(models_path(m, "sdb"), "/srv/models");
    plim_machine_free(s.machine);
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    options.models_directory = "/home/u";
    m = detect_with(&s, options);
    assert_string_equal(models_path(m, "sda"), "/home/u");
    plim_machine_free(s.machine);
    options.models_directory = "/gone";
    m = detect_with(&s, options);
    assert_string_equal(models_path(m, "sda"), "-");
    assert_true(has_note(m, "host_storage", "/gone"));
    scene_end(&s);
}

/* btrfs over two disks: its files have a device number that no disk has. */
static void btrfs_has_all_its_devices(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_disk(&s, "sdb", "pci0/ata2/block", "8:16");
    put_disk(&s, "sdc", "pci0/ata3/block", "8:32");
    put_link(&s, "/sys/fs/btrfs/11-22/devices/sda", "../x");
    put_link(&s, "/sys/fs/btrfs/11-22/devices/sdb", "../x");
    put_link(&s, "/sys/fs/btrfs/33-44/devices/sdc", "../x");
    put_file(&s, "/proc/self/mountinfo",
             "1 0 0:20 /root / rw - btrfs /dev/sdc rw,subvol=/root\n"
             "2 1 0:31 /data /data rw - btrfs /dev/sdb rw,subvol=/data\n"
             "3 1 0:32 / /database rw - tmpfs tmpfs rw\n");
    put(&s, "stat /dev/sdb", "block rdev=8:16");
    put_space(&s, "/data/models", 0, 31);
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    options.models_directory = "/data/models";
    const plim_machine *m = detect_with(&s, options);
    assert_string_equal(models_path(m, "sda"), "/data/models");
    assert_string_equal(models_path(m, "sdb"), "/data/models");
    assert_string_equal(models_path(m, "sdc"), "-");
    scene_end(&s);
}

/* An overlay whose upper directory can be seen; one that is all there is to see; memory. */
static void an_overlay_leads_to_its_upper_directory(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_file(&s, "/proc/self/mountinfo",
             "1 0 8:0 / / rw - ext4 /dev/sda rw\n"
             "2 1 0:31 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/u/d,workdir=/w\n"
             "3 1 0:32 / /shm rw - tmpfs tmpfs rw\n");
    put(&s, "stat /dev/sda", "block rdev=8:0");
    put_space(&s, "/merged/m", 0, 31);
    put_space(&s, "/shm", 0, 32);
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    options.models_directory = "/merged/m";
    assert_string_equal(models_path(detect_with(&s, options), "sda"), "/merged/m");
    plim_machine_free(s.machine);
    options.models_directory = "/shm";
    assert_string_equal(models_path(detect_with(&s, options), "sda"), "-");
    scene_end(&s);
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_file(&s, "/proc/self/mountinfo",
             "1 0 0:31 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/u/d,workdir=/w\n");
    put_space(&s, "/", 0, 31);
    assert_string_equal(models_path(detect(&s), "sda"), "-");
    scene_end(&s);
}

/* A file shown as a disk lies on the file's disk. */
static void a_loop_leads_to_its_file(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_disk(&s, "loop0", "virtual/block", "7:0");
    put_file(&s, "/sys/devices/virtual/block/loop0/loop/backing_file", "/images/models.img");
    put_space(&s, "/mnt", 7, 0);
    put_space(&s, "/images/models.img", 8, 0);
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    options.models_directory = "/mnt";
    assert_string_equal(models_path(detect_with(&s, options), "sda"), "/mnt");
    scene_end(&s);
}

static void models_on_no_disk_are_noted(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_file(&s, "/proc/self/mountinfo", "3 1 0:32 / /shm rw - tmpfs tmpfs rw");
    put(&s, "query /shm fs.space hex", "9419020100000000 +8 +8 +8 20 +7");
    plim_detect_options options = PLIM_DETECT_OPTIONS_INIT;
    options.models_directory = "/shm";
    const plim_machine *m = detect_with(&s, options);
    assert_string_equal(models_path(m, "sda"), "-");
    assert_true(has_note(m, "host_storage", "/shm"));
    scene_end(&s);
}

/* Layers that stand on themselves. */
static void circles_end(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s);
    put_disk(&s, "sda", "pci0/ata1/block", "8:0");
    put_layer(&s, "dm-0", "253:0", (const char *const[]){"dm-1", "dm-1", NULL});
    put_layer(&s, "dm-1", "253:1", (const char *const[]){"dm-0", NULL});
    put_space(&s, "/", 253, 0);
    assert_string_equal(models_path(detect(&s), "sda"), "-");
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_follow_the_transport),
        cmocka_unit_test(layers_and_empty_slots_are_no_disks),
        cmocka_unit_test(partitions_are_no_disks),
        cmocka_unit_test(models_are_traced_through_layers),
        cmocka_unit_test(variables_name_the_directory_first),
        cmocka_unit_test(btrfs_has_all_its_devices),
        cmocka_unit_test(an_overlay_leads_to_its_upper_directory),
        cmocka_unit_test(a_loop_leads_to_its_file),
        cmocka_unit_test(models_on_no_disk_are_noted),
        cmocka_unit_test(circles_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
