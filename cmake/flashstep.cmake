# What every target of the project shares: warnings, sanitizers, exact floating point, and one message for a missing package.

find_package(PkgConfig QUIET)

# flashstep_need(NAME DEBIAN_PACKAGE [VERSION]): find_package, or stop with the name of the package that holds it.
macro(flashstep_need name package)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "flashstep needs ${name}. Install it with: apt-get install ${package}")
  endif()
endmacro()

# flashstep_need_pc(TARGET MODULE DEBIAN_PACKAGE): the same through pkg-config; gives PkgConfig::TARGET.
macro(flashstep_need_pc target module package)
  if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "flashstep needs pkg-config. Install it with: apt-get install pkg-config")
  endif()
  pkg_check_modules(${target} QUIET IMPORTED_TARGET ${module})
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "flashstep needs ${module}. Install it with: apt-get install ${package}")
  endif()
endmacro()

# flashstep_target(TARGET): warnings, no contraction of a*b+c (the mirror's arithmetic is the same with every compiler), sanitizers.
function(flashstep_target target)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -ffp-contract=off>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlap in "text" + std::string where there is none (GCC bug 105651, fixed in 13).
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
  if(FLASHSTEP_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
  if(FLASHSTEP_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
endfunction()

# flashstep_precompile(TARGET [HEADER...]): the headers that most files include, and HEADERs, compiled once for the target.
function(flashstep_precompile target)
  target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/often_included.h ${ARGN})
endfunction()
