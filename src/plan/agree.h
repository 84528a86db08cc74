/* A header whose figures do not agree with its own tensors: damaged, or cut from another file. */
#ifndef PLI_AGREE_H
#define PLI_AGREE_H

#include "shape.h"

/* PARSE: what the engine would refuse because a tensor has another shape than the header says, or
 * belongs to a layer that the header does not count. Architectures without a row are let through:
 * their keys may mean something else. */
plim_status pli_shape_agrees(const pli_shape *shape, plim_error *error);

#endif
