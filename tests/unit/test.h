/* cmocka and what it wants included before it. */
#ifndef PLI_TEST_H
#define PLI_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
