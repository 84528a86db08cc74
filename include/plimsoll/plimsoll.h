/* plimsoll.h: all of the library. */
#ifndef PLIMSOLL_PLIMSOLL_H
#define PLIMSOLL_PLIMSOLL_H
#include <plimsoll/base.h>
#include <plimsoll/machine.h>
#include <plimsoll/meter.h>
#include <plimsoll/model.h>
#include <plimsoll/plan.h>
#include <plimsoll/query.h>
#endif
