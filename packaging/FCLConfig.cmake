# find_package(FCL) gives
#
#   FCL::fcl, FCL::fcl_static   the runtime, shared and static
#   FCL::fclc                   the compiler's program
#   FCL::compiler               the compiler as a library (fclc.h)
#   fcl_add_kernels(TARGET FILES FILE.fcl… [LANGUAGE c|opencl|cuda] [OPTIONS …])
#
# fcl_add_kernels compiles each NAME.fcl, with OPTIONS of fclc (--check, -Dchunk=512 …), to functions that TARGET calls
# after `#include "NAME.h"`, and links the runtime. LANGUAGE is c where it is not given. A change of a file, or of
# one that it imports, compiles it again. Two files of one TARGET must have different names.

cmake_minimum_required(VERSION 3.20)
get_filename_component(FCL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET FCL::fcl)
  find_package(Threads REQUIRED)
  add_library(FCL::fcl SHARED IMPORTED)
  set_target_properties(FCL::fcl PROPERTIES IMPORTED_LOCATION "${FCL_PREFIX}/lib/libfcl.so"
    INTERFACE_INCLUDE_DIRECTORIES "${FCL_PREFIX}/include")
  add_library(FCL::fcl_static STATIC IMPORTED)
  set_target_properties(FCL::fcl_static PROPERTIES IMPORTED_LOCATION "${FCL_PREFIX}/lib/libfcl.a"
    INTERFACE_INCLUDE_DIRECTORIES "${FCL_PREFIX}/include" INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS};m;Threads::Threads")
  add_library(FCL::compiler SHARED IMPORTED)
  set_target_properties(FCL::compiler PROPERTIES IMPORTED_LOCATION "${FCL_PREFIX}/lib/libfclc.so"
    INTERFACE_LINK_LIBRARIES FCL::fcl)
  add_executable(FCL::fclc IMPORTED)
  set_target_properties(FCL::fclc PROPERTIES IMPORTED_LOCATION "${FCL_PREFIX}/bin/fclc")
endif()

function(fcl_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "LANGUAGE" "FILES;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_FILES)
    message(FATAL_ERROR "fcl_add_kernels(TARGET FILES FILE.fcl… [LANGUAGE c|opencl|cuda] [OPTIONS …])")
  endif()
  if(NOT ARG_LANGUAGE)
    set(ARG_LANGUAGE c)
  endif()
  set(extension_c c)
  set(extension_opencl cl)
  set(extension_cuda cu)
  if(NOT DEFINED extension_${ARG_LANGUAGE})
    message(FATAL_ERROR "fcl_add_kernels: LANGUAGE is c, opencl or cuda, not ${ARG_LANGUAGE}")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/fcl/${target}")
  file(MAKE_DIRECTORY "${folder}")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME_WE)
    set(output "${folder}/${name}.${extension_${ARG_LANGUAGE}}")
    add_custom_command(OUTPUT "${output}" BYPRODUCTS "${folder}/${name}.h"
      COMMAND FCL::fclc ${ARG_OPTIONS} -M "${path}" -o "${output}"
      DEPENDS "${path}" FCL::fclc DEPFILE "${folder}/${name}.d" VERBATIM
      COMMENT "Compiling ${file} to ${ARG_LANGUAGE}")
    # The functions that the header declares are in a file of their own.
    string(MAKE_C_IDENTIFIER "${name}" prefix)
    string(TOUPPER "${prefix}" prefix)
    set(unit "${folder}/${name}_functions.c")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#define ${prefix}_IMPLEMENTATION\n#include \"${name}.h\"\n")
    set_property(SOURCE "${unit}" APPEND PROPERTY OBJECT_DEPENDS "${output}")
    target_sources(${target} PRIVATE "${unit}" "${output}")
    set_source_files_properties("${output}" PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  target_include_directories(${target} PRIVATE "${folder}")
  target_link_libraries(${target} PRIVATE FCL::fcl)
endfunction()
