# Compile settings of every target of ours, and the shape of a floor. No global flag is changed: we may be a subproject.
add_library(plim_settings INTERFACE)
target_include_directories(plim_settings INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(plim_settings INTERFACE c_std_11)
target_compile_definitions(plim_settings INTERFACE _FILE_OFFSET_BITS=64 _POSIX_C_SOURCE=200809L)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(plim_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                         -Wmissing-prototypes -Wvla -Wcast-qual -Wformat=2 -Wundef)
  if(PLIM_WERROR)
    target_compile_options(plim_settings INTERFACE -Werror)
  endif()
  if(PLIM_SANITIZE)
    target_compile_options(plim_settings INTERFACE -fsanitize=${PLIM_SANITIZE} -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    target_link_options(plim_settings INTERFACE -fsanitize=${PLIM_SANITIZE})
  endif()
endif()

# plim_floor(name sources...): the object library of one folder of src/. Unit tests link the objects: internals are
# visible to them.
function(plim_floor name)
  add_library(plim_${name} OBJECT ${ARGN})
  set_target_properties(plim_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden
                        C_EXTENSIONS OFF)
  target_compile_definitions(plim_${name} PRIVATE PLIM_BUILD)
  target_link_libraries(plim_${name} PRIVATE plim_settings yyjson::yyjson)
  set_property(GLOBAL APPEND PROPERTY PLIM_FLOORS plim_${name})
endfunction()
