// The vector types of CUDA with their alignments, dim3, and the built-in coordinates.
#pragma once

#define CUDA_MODEL_VECTOR2(name, element, alignment)                                                                   \
  struct alignas(alignment) name##2 { element x, y; };                                                                 \
  inline name##2 make_##name##2(element x, element y) { return name##2 {x, y}; }
#define CUDA_MODEL_VECTOR3(name, element)                                                                              \
  struct name##3 { element x, y, z; };                                                                                 \
  inline name##3 make_##name##3(element x, element y, element z) { return name##3 {x, y, z}; }
#define CUDA_MODEL_VECTOR4(name, element, alignment)                                                                   \
  struct alignas(alignment) name##4 { element x, y, z, w; };                                                           \
  inline name##4 make_##name##4(element x, element y, element z, element w) { return name##4 {x, y, z, w}; }
#define CUDA_MODEL_VECTORS(name, element, align2, align4)                                                              \
  CUDA_MODEL_VECTOR2(name, element, align2)                                                                            \
  CUDA_MODEL_VECTOR3(name, element)                                                                                    \
  CUDA_MODEL_VECTOR4(name, element, align4)

CUDA_MODEL_VECTORS(char, signed char, 2, 4)
CUDA_MODEL_VECTORS(uchar, unsigned char, 2, 4)
CUDA_MODEL_VECTORS(short, short, 4, 8)
CUDA_MODEL_VECTORS(ushort, unsigned short, 4, 8)
CUDA_MODEL_VECTORS(int, int, 8, 16)
CUDA_MODEL_VECTORS(uint, unsigned, 8, 16)
CUDA_MODEL_VECTORS(longlong, long long, 16, 16)
CUDA_MODEL_VECTORS(ulonglong, unsigned long long, 16, 16)
CUDA_MODEL_VECTORS(float, float, 8, 16)
CUDA_MODEL_VECTORS(double, double, 16, 16)

#undef CUDA_MODEL_VECTORS
#undef CUDA_MODEL_VECTOR4
#undef CUDA_MODEL_VECTOR3
#undef CUDA_MODEL_VECTOR2

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

// Rewritten by the model whenever another thread goes on.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
constexpr int warpSize = 32;
