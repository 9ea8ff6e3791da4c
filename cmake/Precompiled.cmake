# SPDX-License-Identifier: Apache-2.0
# Half of the time of a cold build is the standard library's headers. The release presets read them
# precompiled, once for the parts and once, with GoogleTest, for the tests; the presets that developers
# use do not (CMAKE_DISABLE_PRECOMPILE_HEADERS), so that a file that forgets an include fails there.
set(SLIPWAY_STANDARD_HEADERS
  <algorithm> <array> <atomic> <chrono> <cmath> <complex> <condition_variable> <cstdint> <cstring> <functional>
  <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <unordered_map>
  <utility> <variant> <vector>)

file(WRITE ${CMAKE_BINARY_DIR}/precompiled.cc "")
add_library(slipway_precompiled STATIC ${CMAKE_BINARY_DIR}/precompiled.cc)
target_precompile_headers(slipway_precompiled PRIVATE ${SLIPWAY_STANDARD_HEADERS})

if(SLIPWAY_TESTS)
  add_library(slipway_precompiled_tests STATIC ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(slipway_precompiled_tests PRIVATE GTest::gmock)
  target_precompile_headers(slipway_precompiled_tests PRIVATE
    ${SLIPWAY_STANDARD_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
endif()
