/* SPDX-License-Identifier: MIT */
/*
 * Modules, libraries and functions of the driver double.  A library is a module whose
 * kernels are of no context; each hands out handles of its own.
 */
#include "driver.h"
#include "double_image.h"

#include <stdlib.h>
#include <string.h>

struct CUmod_st {
	const struct double_image *image;
	/* Those that were asked for, under double_lock. */
	struct CUfunc_st *functions;
};

struct CUlib_st {
	/* The kernels themselves, and the module for the functions made of them. */
	struct CUmod_st kernels;
	struct CUmod_st module;
};

static CUresult load(struct CUmod_st **ret_module, const void *image)
{
	const struct double_image *kernels = image;
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!ret_module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	if (kernels->magic != DOUBLE_IMAGE_MAGIC)
		return CUDA_ERROR_INVALID_IMAGE;
	*ret_module = calloc(1, sizeof(**ret_module));
	if (!*ret_module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*ret_module)->image = kernels;
	return CUDA_SUCCESS;
}

static void drop_functions(struct CUmod_st *module)
{
	struct CUfunc_st *function;

	while (module->functions) {
		function = module->functions;
		module->functions = function->next;
		free(function);
	}
}

static CUresult get_function(struct CUfunc_st **ret_function, struct CUmod_st *module,
			     const struct double_kernel *kernel)
{
	struct CUfunc_st *function;

	pthread_mutex_lock(&double_lock);
	for (function = module->functions; function && function->kernel != kernel;
	     function = function->next)
		;
	if (!function) {
		function = calloc(1, sizeof(*function));
		if (function) {
			function->kernel = kernel;
			function->module = module;
			function->next = module->functions;
			module->functions = function;
		}
	}
	pthread_mutex_unlock(&double_lock);
	*ret_function = function;
	return function ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult find_function(struct CUfunc_st **ret_function, struct CUmod_st *module,
			      const char *name)
{
	CUresult res = double_require_init();
	size_t i;

	if (res != CUDA_SUCCESS)
		return res;
	if (!ret_function || !module || !name)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < module->image->kernel_count; i++) {
		if (strcmp(module->image->kernels[i].name, name) == 0)
			return get_function(ret_function, module,
					    &module->image->kernels[i]);
	}
	return CUDA_ERROR_NOT_FOUND;
}

DOUBLE_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	return load(module, image);
}

DOUBLE_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
					  unsigned int numOptions, CUjit_option *options,
					  void **optionValues)
{
	(void) numOptions;
	(void) options;
	(void) optionValues;
	return load(module, image);
}

DOUBLE_EXPORT CUresult cuModuleUnload(CUmodule hmod)
{
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	drop_functions(hmod);
	free(hmod);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod,
					   const char *name)
{
	return find_function(hfunc, hmod, name);
}

DOUBLE_EXPORT CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
	if (!count || !mod)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (unsigned int) mod->image->kernel_count;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction *functions,
						  unsigned int numFunctions, CUmodule mod)
{
	CUresult res = CUDA_SUCCESS;
	unsigned int i;

	if (!functions || !mod)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < numFunctions && i < mod->image->kernel_count && !res; i++)
		res = get_function(&functions[i], mod, &mod->image->kernels[i]);
	return res;
}

DOUBLE_EXPORT CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
	if (!name || !hfunc)
		return CUDA_ERROR_INVALID_VALUE;
	*name = hfunc->kernel->name;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
	if (!hmod || !hfunc)
		return CUDA_ERROR_INVALID_VALUE;
	*hmod = hfunc->module;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex,
					  size_t *paramOffset, size_t *paramSize)
{
	const size_t *sizes;
	size_t offset = 0;
	size_t align;
	size_t i;

	if (!func || !paramOffset || paramIndex >= func->kernel->parameter_count)
		return CUDA_ERROR_INVALID_VALUE;
	sizes = func->kernel->parameter_sizes;
	for (i = 0;; i++) {
		align = sizes[i] < 8 ? sizes[i] : 8;
		offset = (offset + align - 1) / align * align;
		if (i == paramIndex)
			break;
		offset += sizes[i];
	}
	*paramOffset = offset;
	if (paramSize)
		*paramSize = sizes[i];
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
					 CUjit_option *jitOptions,
					 void **jitOptionsValues,
					 unsigned int numJitOptions,
					 CUlibraryOption *libraryOptions,
					 void **libraryOptionValues,
					 unsigned int numLibraryOptions)
{
	const struct double_image *kernels = code;
	CUresult res = double_require_init();

	(void) jitOptions;
	(void) jitOptionsValues;
	(void) numJitOptions;
	(void) libraryOptions;
	(void) libraryOptionValues;
	(void) numLibraryOptions;
	if (res != CUDA_SUCCESS)
		return res;
	if (!library || !code)
		return CUDA_ERROR_INVALID_VALUE;
	if (kernels->magic != DOUBLE_IMAGE_MAGIC)
		return CUDA_ERROR_INVALID_IMAGE;
	*library = calloc(1, sizeof(**library));
	if (!*library)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*library)->kernels.image = kernels;
	(*library)->module.image = kernels;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuLibraryUnload(CUlibrary library)
{
	if (!library)
		return CUDA_ERROR_INVALID_VALUE;
	drop_functions(&library->kernels);
	drop_functions(&library->module);
	free(library);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library,
					  const char *name)
{
	struct CUfunc_st *found;
	CUresult res;

	if (!pKernel || !library)
		return CUDA_ERROR_INVALID_VALUE;
	res = find_function(&found, &library->kernels, name);
	if (res == CUDA_SUCCESS)
		*pKernel = (CUkernel) found;
	return res;
}

DOUBLE_EXPORT CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	if (!pMod || !library)
		return CUDA_ERROR_INVALID_VALUE;
	*pMod = &library->module;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
	if (!count || !lib)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (unsigned int) lib->kernels.image->kernel_count;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	struct CUfunc_st *function = (CUfunction) kernel;
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);
	struct CUlib_st *library;

	if (res != CUDA_SUCCESS)
		return res;
	if (!pFunc || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	library = (struct CUlib_st *) function->module;
	return get_function(pFunc, &library->module, function->kernel);
}

DOUBLE_EXPORT CUresult cuKernelGetName(const char **name, CUkernel hfunc)
{
	if (!name || !hfunc)
		return CUDA_ERROR_INVALID_VALUE;
	*name = ((CUfunction) hfunc)->kernel->name;
	return CUDA_SUCCESS;
}
