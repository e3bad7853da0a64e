// Stand-in for the toolkit's header of this name: CUDA's words mean nothing to a C++ compiler, the rest is the model.
#pragma once

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static // one block runs at a time
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

#include "cuda_model/collectives.h"
#include "cuda_model/intrinsics.h"
#include "cuda_model/math.h"
#include "cuda_model/model.h"
#include "cuda_model/runtime.h"
#include "cuda_model/vector_types.h"

// What generated files define themselves under a CUDA compiler, as the block's dynamic shared memory.
inline unsigned char *shared_memory() { return cuda_model::shared_base(); }
