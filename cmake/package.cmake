# kgen as a package: `find_package(kgen)` after an install, the same functions after FetchContent, and .tar.gz and .deb by
# CPack. Only the program is exported; generated code needs nothing of kgen.
include(${CMAKE_CURRENT_LIST_DIR}/kgenFunctions.cmake)

if(DEFINED SKBUILD) # the wheel of the Python package has the program alone
  install(TARGETS kgen RUNTIME DESTINATION bin)
elseif(PROJECT_IS_TOP_LEVEL)
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/kgen)
  install(TARGETS kgen EXPORT kgenTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT kgenTargets NAMESPACE kgen:: DESTINATION ${folder})
  # A generator of sources serves every machine, so the size of a pointer there does not matter.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/kgenConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                   ARCH_INDEPENDENT)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/kgenConfig.cmake ${CMAKE_CURRENT_LIST_DIR}/kgenFunctions.cmake
                ${PROJECT_BINARY_DIR}/kgenConfigVersion.cmake DESTINATION ${folder})
  install(FILES ${PROJECT_SOURCE_DIR}/docs/language.md ${PROJECT_SOURCE_DIR}/docs/build.md
                ${PROJECT_SOURCE_DIR}/docs/commands.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

  # The program writes its own manual page and completions.
  set(shared ${PROJECT_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${shared})
  add_custom_command(OUTPUT ${shared}/kgen.1 ${shared}/kgen ${shared}/_kgen ${shared}/kgen.fish
                     COMMAND kgen reference man > ${shared}/kgen.1
                     COMMAND kgen completion bash > ${shared}/kgen
                     COMMAND kgen completion zsh > ${shared}/_kgen
                     COMMAND kgen completion fish > ${shared}/kgen.fish
                     DEPENDS kgen VERBATIM)
  add_custom_target(kgen_shared ALL DEPENDS ${shared}/kgen.1)
  install(FILES ${shared}/kgen.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${shared}/kgen DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${shared}/_kgen DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${shared}/kgen.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

  set(CPACK_GENERATOR TGZ DEB)
  set(CPACK_PACKAGE_NAME kgen)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Turns declarative kernel specs into CUDA and OpenMP sources")
  set(CPACK_PACKAGE_CONTACT "the kgen project")
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, cmake")
  include(CPack)
endif()
