/* SPDX-License-Identifier: MIT */
/*
 * Walks the (type, name, kind) triples of one row of a .def table.
 *
 * A wrapped call is written down once, as a row; everything made of it (the
 * wrapper, the events, the tests) is the same walk with another macro.  This
 * hides how the preprocessor is made to loop.
 */
#ifndef TAP_COMMON_ARGS_H
#define TAP_COMMON_ARGS_H

/*
 * ARGS_WALK(M, SEP, triples...) expands M(type, name, kind) for each triple,
 * with SEP() between two of them, or M_NONE when the call takes no argument.
 */
#define ARGS_WALK(m, sep, ...) \
	ARGS_CAT(ARGS_, ARGS_COUNT(__VA_ARGS__))(m, sep, ##__VA_ARGS__)

#define ARGS_CAT(a, b) ARGS_CAT_(a, b)
#define ARGS_CAT_(a, b) a##b
#define ARGS_COUNT(...) \
	ARGS_PICK(0, ##__VA_ARGS__, 14,,, 13,,, 12,,, 11,,, 10,,, 9,,, 8,,, 7,,, 6,,, 5,,, \
		4,,, 3,,, 2,,, 1,,, 0)
#define ARGS_PICK(z, a1,a2,a3, b1,b2,b3, c1,c2,c3, d1,d2,d3, e1,e2,e3, f1,f2,f3, g1,g2,g3, \
		h1,h2,h3, i1,i2,i3, j1,j2,j3, k1,k2,k3, l1,l2,l3, m1,m2,m3, n1,n2,n3, N, ...) N

#define ARGS_0(m, sep) m##_NONE
#define ARGS_1(m, sep, t, n, k) m(t, n, k)
#define ARGS_2(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_1(m, sep, __VA_ARGS__)
#define ARGS_3(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_2(m, sep, __VA_ARGS__)
#define ARGS_4(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_3(m, sep, __VA_ARGS__)
#define ARGS_5(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_4(m, sep, __VA_ARGS__)
#define ARGS_6(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_5(m, sep, __VA_ARGS__)
#define ARGS_7(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_6(m, sep, __VA_ARGS__)
#define ARGS_8(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_7(m, sep, __VA_ARGS__)
#define ARGS_9(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_8(m, sep, __VA_ARGS__)
#define ARGS_10(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_9(m, sep, __VA_ARGS__)
#define ARGS_11(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_10(m, sep, __VA_ARGS__)
#define ARGS_12(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_11(m, sep, __VA_ARGS__)
#define ARGS_13(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_12(m, sep, __VA_ARGS__)
#define ARGS_14(m, sep, t, n, k, ...) m(t, n, k) sep() ARGS_13(m, sep, __VA_ARGS__)

#define SEP_COMMA() ,
#define SEP_NONE()

#define ARG_DECL(t, n, k) t n
#define ARG_DECL_NONE void
#define ARG_NAME(t, n, k) n
#define ARG_NAME_NONE
#define ARG_MEMBER(t, n, k) t n;
#define ARG_MEMBER_NONE

#define PARAMS(...) ARGS_WALK(ARG_DECL, SEP_COMMA, ##__VA_ARGS__)
#define NAMES(...) ARGS_WALK(ARG_NAME, SEP_COMMA, ##__VA_ARGS__)
#define MEMBERS(...) ARGS_WALK(ARG_MEMBER, SEP_NONE, ##__VA_ARGS__)

#endif
