# find_package(kgen): the program as kgen::kgen, and the functions.
include(${CMAKE_CURRENT_LIST_DIR}/kgenTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kgenFunctions.cmake)
