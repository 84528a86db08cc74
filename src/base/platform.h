/* The compiler and OS switch of the base floor: attributes only, no behaviour. */
#ifndef PLI_PLATFORM_H
#define PLI_PLATFORM_H

#if defined(__GNUC__)
#define PLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define PLI_UNUSED __attribute__((unused))
#else
#define PLI_PRINTF(fmt, args)
#define PLI_UNUSED
#endif

#endif
