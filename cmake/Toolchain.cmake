# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, baseline processor, sanitizers, ccache and mold.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(SLIPWAY_CCACHE ccache)
if(SLIPWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this ccache does not keep what was compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SLIPWAY_CCACHE})
endif()

find_program(SLIPWAY_MOLD mold)
if(SLIPWAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Code outside the dispatched kernels runs on any x86-64 machine of the last 15 years;
# kernels pick AVX2 or AVX-512 when they run (Highway).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -fno-math-errno)
if(SLIPWAY_WERROR)
  add_compile_options(-Werror)
endif()
if(SLIPWAY_SANITIZE)
  add_compile_options(-fsanitize=${SLIPWAY_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SLIPWAY_SANITIZE})
  if(SLIPWAY_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
