# SPDX-License-Identifier: Apache-2.0
# slipway_add_part(NAME [DEPS part...] [LIBS target...] [EXCLUDE regex])
#
# One static library from every source below src/NAME, so that an include across a wall
# that is not in src/LAYERS also fails at the linker. Sources are found by name:
#   x.cc          the library (a main.cc is left to the program that wants it)
#   x_test.cc     the test binary NAME_test (one a part), run by ctest case by case
#   x_bench.cc    the benchmark binary NAME_bench (with SLIPWAY_BENCHMARKS)
# EXCLUDE leaves out sources by path. DEPS are parts, LIBS are third-party targets of cmake/Dependencies.cmake.
function(slipway_add_part name)
  cmake_parse_arguments(arg "" "EXCLUDE" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(arg_EXCLUDE)
    list(FILTER all EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  set(sources ${all})
  set(tests ${all})
  set(benches ${all})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  set(dep_targets ${arg_DEPS})
  if(NOT SLIPWAY_TRAINING)
    list(REMOVE_ITEM dep_targets data nn train api)
  endif()
  list(TRANSFORM dep_targets PREPEND slipway_)

  if(sources)
    add_library(slipway_${name} STATIC ${sources})
    target_include_directories(slipway_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(slipway_${name} PUBLIC ${dep_targets} ${arg_LIBS})
    target_precompile_headers(slipway_${name} REUSE_FROM slipway_precompiled)
  else()
    add_library(slipway_${name} INTERFACE)
    target_include_directories(slipway_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(slipway_${name} INTERFACE ${dep_targets} ${arg_LIBS})
  endif()

  if(SLIPWAY_TESTS AND tests)
    slipway_add_test(${name}_test SOURCES ${tests} DEPS slipway_${name} ${arg_TEST_LIBS})
  endif()
  if(SLIPWAY_BENCHMARKS AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE slipway_${name} benchmark::benchmark_main)
  endif()
endfunction()

# slipway_add_test(NAME SOURCES file... [DEPS target...]): a GoogleTest binary, each case a ctest test.
function(slipway_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM slipway_precompiled_tests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} TEST_PREFIX "${name}/"
                       PROPERTIES TIMEOUT 300
                       # Too large an allocation is an error to report, in sanitized builds too.
                       ENVIRONMENT "ASAN_OPTIONS=allocator_may_return_null=1")
endfunction()
