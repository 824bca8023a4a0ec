/* SPDX-License-Identifier: MIT */
/*
 * Kernels of our own, as text that the driver itself makes into code, so that no compiler
 * for the GPU is needed; for the driver double, as functions of the host.
 */
#include "gpu.h"

#include "double_image.h"

#include <string.h>
#include <time.h>

static const char ptx[] = ".version 6.3\n"
			  ".target sm_70\n"
			  ".address_size 64\n"
			  ".visible .entry gpu_add(.param .u64 data, .param .f32 value,\n"
			  "                        .param .u32 count)\n"
			  "{\n"
			  "	.reg .pred %p;\n"
			  "	.reg .f32 %f<3>;\n"
			  "	.reg .b32 %r<5>;\n"
			  "	.reg .b64 %rd<4>;\n"
			  "	ld.param.u64 %rd1, [data];\n"
			  "	ld.param.f32 %f1, [value];\n"
			  "	ld.param.u32 %r1, [count];\n"
			  "	mov.u32 %r2, %ctaid.x;\n"
			  "	mov.u32 %r3, %ntid.x;\n"
			  "	mov.u32 %r4, %tid.x;\n"
			  "	mad.lo.u32 %r2, %r2, %r3, %r4;\n"
			  "	setp.ge.u32 %p, %r2, %r1;\n"
			  "	@%p bra done;\n"
			  "	cvta.to.global.u64 %rd1, %rd1;\n"
			  "	mul.wide.u32 %rd2, %r2, 4;\n"
			  "	add.u64 %rd3, %rd1, %rd2;\n"
			  "	ld.global.f32 %f2, [%rd3];\n"
			  "	add.f32 %f2, %f2, %f1;\n"
			  "	st.global.f32 [%rd3], %f2;\n"
			  "done:\n"
			  "	ret;\n"
			  "}\n"
			  ".visible .entry gpu_spin(.param .u64 ns)\n"
			  "{\n"
			  "	.reg .pred %p;\n"
			  "	.reg .b64 %rd<4>;\n"
			  "	ld.param.u64 %rd1, [ns];\n"
			  "	mov.u64 %rd2, %globaltimer;\n"
			  "again:\n"
			  "	mov.u64 %rd3, %globaltimer;\n"
			  "	sub.u64 %rd3, %rd3, %rd2;\n"
			  "	setp.lt.u64 %p, %rd3, %rd1;\n"
			  "	@%p bra again;\n"
			  "	ret;\n"
			  "}\n";

/* ---- The same on the driver double ---- */

struct add_arguments {
	float *data;
	float value;
	unsigned int count;
};

static void double_add(const void *arguments, size_t size)
{
	struct add_arguments add;
	unsigned int i;

	if (size != sizeof(add))
		return;
	memcpy(&add, arguments, size);
	for (i = 0; i < add.count; i++)
		add.data[i] += add.value;
}

static void double_spin(const void *arguments, size_t size)
{
	struct timespec time = {0};
	uint64_t ns;

	if (size != sizeof(ns))
		return;
	memcpy(&ns, arguments, size);
	time.tv_sec = (time_t) (ns / 1000000000);
	time.tv_nsec = (long) (ns % 1000000000);
	nanosleep(&time, NULL);
}

static const size_t add_sizes[] = {sizeof(float *), sizeof(float), sizeof(unsigned int)};
static const size_t spin_sizes[] = {sizeof(uint64_t)};
static const struct double_kernel double_kernels[] = {
	{"gpu_add", double_add, add_sizes, 3},
	{"gpu_spin", double_spin, spin_sizes, 1},
};
static const struct double_image double_image = {DOUBLE_IMAGE_MAGIC, 2, double_kernels};

/* ---- */

void load_kernels(struct kernels *kernels)
{
	CUresult result;
	CUmodule module;

	result = cuda.cuModuleLoadData(&module, ptx);
	if (result == CUDA_ERROR_INVALID_IMAGE)
		result = cuda.cuModuleLoadData(&module, &double_image);
	check_cuda(result, "cuModuleLoadData");
	CUDA(cuModuleGetFunction(&kernels->add, module, "gpu_add"));
	CUDA(cuModuleGetFunction(&kernels->spin, module, "gpu_spin"));
}

CUresult launch_add(const struct kernels *kernels, CUdeviceptr data, float value,
		    unsigned int count, CUstream stream)
{
	void *params[] = {&data, &value, &count};

	return cuda.cuLaunchKernel(kernels->add, (count + 255) / 256, 1, 1, 256, 1, 1, 0,
				   stream, params, NULL);
}

CUresult launch_spin(const struct kernels *kernels, uint64_t ns, CUstream stream)
{
	void *params[] = {&ns};

	return cuda.cuLaunchKernel(kernels->spin, 1, 1, 1, 1, 1, 1, 0, stream, params,
				   NULL);
}
