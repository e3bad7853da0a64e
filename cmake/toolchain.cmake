# How kgen's own code is compiled and linked. Everything depends on the interface target `kgen_options`, so that a
# project that includes kgen keeps its own flags.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  # Not RelWithDebInfo: debug information multiplies the time of every link against static LLVM.
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "Release flags; assertions stay on" FORCE)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

find_program(KGEN_CCACHE ccache)
if(KGEN_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${KGEN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KGEN_CCACHE})
endif()

add_library(kgen_options INTERFACE)
target_compile_features(kgen_options INTERFACE cxx_std_20)
target_compile_options(kgen_options INTERFACE -Wall -Wextra $<$<BOOL:${KGEN_WERROR}>:-Werror>)
# gcc 12 gives these two falsely for std::variant and std::string once they are inlined (its bugs 105562 and 105651).
target_compile_options(kgen_options INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-maybe-uninitialized$<SEMICOLON>-Wno-restrict>)
# One section per function, so that the linker drops most of LLVM.
target_compile_options(kgen_options INTERFACE -ffunction-sections -fdata-sections)
target_link_options(kgen_options INTERFACE LINKER:--gc-sections LINKER:--as-needed)

find_program(KGEN_MOLD mold)
if(KGEN_MOLD)
  target_link_options(kgen_options INTERFACE -fuse-ld=mold)
endif()

if(KGEN_SANITIZE)
  set(sanitize -fsanitize=${KGEN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(kgen_options INTERFACE ${sanitize} -g1 -O0)
  target_link_options(kgen_options INTERFACE ${sanitize})
endif()
