/* SPDX-License-Identifier: MIT */
/*
 * Takes apart the column api of cuda.def, (base name, CUPTI's number, the variant's
 * number): the base name, and the numbers of the rows whose class has them.
 *
 * It hides that only some classes have numbers.
 */
#ifndef TAP_CALLS_CUDA_API_H
#define TAP_CALLS_CUDA_API_H

/* clang-format off */
#define TAP_BARE(api) TAP_BARE_ api
#define TAP_BARE_(base_name, ...) base_name
#define TAP_BARE_NAME(api) TAP_STRING_(TAP_BARE(api))
#define TAP_STRING_(name) TAP_STRING__(name)
#define TAP_STRING__(name) #name

/*
 * M(exported name, number) for each name of a row that has a number of CUPTI's:
 * TAP_CBID_class(M, name, api), and TAP_CBIDS_class(M, name, variant, api).
 */
#define TAP_CBID_WORK(M, name, api) M(name, TAP_CBID_ALONE_ api)
#define TAP_CBID_WAIT TAP_CBID_WORK
#define TAP_CBID_SETUP(M, name, api)
#define TAP_CBID_CAPTURE TAP_CBID_SETUP
#define TAP_CBID_CAPTURED TAP_CBID_SETUP
#define TAP_CBID_UNLOAD TAP_CBID_SETUP
#define TAP_CBIDS_WORK(M, name, variant, api) M(name, TAP_CBID_NAME_ api) M(variant, TAP_CBID_VARIANT_ api)
#define TAP_CBIDS_WAIT TAP_CBIDS_WORK
#define TAP_CBIDS_SETUP(M, name, variant, api)
#define TAP_CBIDS_CAPTURE TAP_CBIDS_SETUP
#define TAP_CBIDS_CAPTURED TAP_CBIDS_SETUP
#define TAP_CBIDS_UNLOAD TAP_CBIDS_SETUP
#define TAP_CBID_ALONE_(base_name, number) number
#define TAP_CBID_NAME_(base_name, number, variant_number) number
#define TAP_CBID_VARIANT_(base_name, number, variant_number) variant_number
/* clang-format on */

#endif
