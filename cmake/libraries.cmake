# The libraries that the stages use, besides LLVM. Every one is a system package, see cmake/packages.txt.
find_library(KGEN_ISL_LIBRARY NAMES libisl.a isl REQUIRED)
find_library(KGEN_GMP_LIBRARY NAMES libgmp.a gmp REQUIRED)
find_path(KGEN_ISL_INCLUDE isl/ctx.h REQUIRED)
find_path(KGEN_TOML_INCLUDE toml++/toml.h REQUIRED)
find_path(KGEN_MUSTACHE_INCLUDE kainjow/mustache.hpp REQUIRED)
find_path(KGEN_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
find_package(Threads REQUIRED)
