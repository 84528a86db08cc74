/* AMD's compute driver publishes what it knows of each GPU, or of each partition of one, as a node
 * of a topology in sysfs. */
#ifndef PLI_KFD_TOPOLOGY_H
#define PLI_KFD_TOPOLOGY_H

#include "probe.h"

typedef struct pli_kfd_node { /* a GPU or a partition; 0 where the driver does not say */
    uint64_t number;          /* in the topology */
    uint64_t unique_id;       /* of the card; a partition has its card's */
    uint64_t hive;            /* cards that xGMI joins */
    uint32_t domain, bus, slot, function;
    uint16_t vendor, device;
    uint64_t compute_units, xcc_count;
    uint64_t render_minor, max_clock_mhz;
    const char *arch; /* gfx942, NULL where unknown */
    /* the memory banks that programs allocate from; known is false where none is described */
    bool memory_known, used_known;
    uint64_t memory_bytes, used_bytes, bus_width_bits, memory_clock_mhz;
    size_t card; /* index of the first node of the same card, its own for that one */
} pli_kfd_node;

typedef struct pli_kfd_topology {
    pli_kfd_node *nodes; /* in the scratch arena */
    size_t count;
    size_t denied; /* nodes that the device cgroup hides from this process */
} pli_kfd_topology;

/* Empty where there is no such driver. */
void pli_kfd_read(pli_probe_context *, pli_kfd_topology *out);
/* xGMI links of a node: calls add for the number of each node at the other end, with the
 * bandwidth in bytes/s, 0 where unknown. */
typedef void (*pli_kfd_link_fn)(void *user, uint64_t to, uint64_t bytes_per_s);
void pli_kfd_xgmi_links(pli_probe_context *, const pli_kfd_node *, pli_kfd_link_fn add, void *user);

#endif
