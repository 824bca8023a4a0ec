/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ as the source has them.
 *
 * Hides that libstdc++ demangles them, which is opened at run time: a demangler of our
 * own would be longer than the rest of a view and never as right, and linking libstdc++
 * would make a program in C need it.  Hides, too, which names are not worth the risk: a
 * name of a damaged trace may stand for gigabytes.
 */
#ifndef TAP_JOIN_BASE_DEMANGLE_H
#define TAP_JOIN_BASE_DEMANGLE_H

/*
 * The demangled name, to be freed; NULL where it is no mangled name, where it is too
 * complex, without libstdc++, or when memory is short: the caller shows the name itself.
 */
char *tap_demangle(const char *name);

#endif
