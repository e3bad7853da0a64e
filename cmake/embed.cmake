# Text files compiled into the binary.
#   kgen_embed(templates OUTPUT sources BASE ${dir} FILES a/b.mustache ...)
# writes a .cpp that defines `kgen::embedded_templates()` as declared in generator/support/embedded.h, lists the files
# sorted under their path below BASE, and sets `sources` to it. It is written again when a file changes.
# The same file is the script that writes: `cmake -DOUTPUT=... -DSYMBOL=... -DBASE=... -DLIST=... -P embed.cmake`.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${LIST} files)
  file(WRITE ${OUTPUT}.new "// Written by cmake/embed.cmake from the files named below.\n#include \"support/embedded.h\"\n\n")
  file(APPEND ${OUTPUT}.new "namespace kgen {\nstd::span<const EmbeddedFile> embedded_${SYMBOL}() {\n")
  file(APPEND ${OUTPUT}.new "  static constexpr EmbeddedFile kFiles[] = {\n      {\"\", \"\"},\n")
  foreach(path IN LISTS files)
    file(READ "${BASE}/${path}" text)
    file(APPEND ${OUTPUT}.new "      {\"${path}\", R\"kgen_embed(" "${text}" ")kgen_embed\"},\n")
  endforeach()
  # The first row only keeps the array from being empty.
  file(APPEND ${OUTPUT}.new "  };\n  return std::span(kFiles).subspan(1);\n}\n} // namespace kgen\n")
  file(RENAME ${OUTPUT}.new ${OUTPUT})
  return()
endif()

set(KGEN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(kgen_embed symbol)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT;BASE" "FILES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kgen_embed: unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(paths "")
  foreach(file IN LISTS arg_FILES)
    file(RELATIVE_PATH path ${arg_BASE} ${file})
    list(APPEND paths ${path})
  endforeach()
  list(SORT paths COMPARE STRING)
  list(TRANSFORM paths PREPEND "${arg_BASE}/" OUTPUT_VARIABLE depends)

  # The list is a file of its own, so that an added or removed file is noticed too.
  set(list ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.list)
  list(JOIN paths "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} -DBASE=${arg_BASE} -DLIST=${list} -P ${KGEN_EMBED_SCRIPT}
    DEPENDS ${depends} ${list} ${KGEN_EMBED_SCRIPT}
    COMMENT "Embedding ${symbol}"
    VERBATIM)
  set(${arg_OUTPUT} ${output} PARENT_SCOPE)
endfunction()
