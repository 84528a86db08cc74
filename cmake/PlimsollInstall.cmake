# What `cmake --install` brings, in the components runtime and dev: the command, the libraries, the headers, the CMake
# package, the pkg-config file and the man pages.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plimsoll)

if(PLIM_BUILD_CLI)
  install(TARGETS plimsoll_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()
install(TARGETS plimsoll EXPORT PlimsollTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS plimsoll_static EXPORT PlimsollStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY include/plimsoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

foreach(set PlimsollTargets PlimsollStaticTargets)
  install(EXPORT ${set} NAMESPACE plimsoll:: DESTINATION ${package_dir} COMPONENT dev)
endforeach()
configure_package_config_file(cmake/PlimsollConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/PlimsollConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/PlimsollConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
# find_package(plimsoll) looks for these names, find_package(Plimsoll) for those.
file(WRITE ${PROJECT_BINARY_DIR}/cmake/plimsoll-config.cmake
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/PlimsollConfig.cmake\")\n")
file(WRITE ${PROJECT_BINARY_DIR}/cmake/plimsoll-config-version.cmake
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/PlimsollConfigVersion.cmake\")\n")
install(DIRECTORY ${PROJECT_BINARY_DIR}/cmake/ DESTINATION ${package_dir} COMPONENT dev
        FILES_MATCHING PATTERN "*.cmake")

# The .pc file finds its prefix from where it lies, so that `cmake --install --prefix` and a moved tree work.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(PLIM_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(PLIM_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(PLIM_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(PLIM_PC_PREFIX "\${pcfiledir}/${up}")
  set(PLIM_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(PLIM_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/plimsoll.pc.in ${PROJECT_BINARY_DIR}/plimsoll.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/plimsoll.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# A page for the command and one for each row of its table; documents' schemas; what shells complete.
if(PLIM_BUILD_CLI)
  set(pages plimsoll.1)
  file(STRINGS cli/commands.def rows REGEX "^CMD\\(")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^CMD\\(([a-z]+),.*" "plimsoll-\\1.1" page "${row}")
    list(APPEND pages ${page})
  endforeach()
  list(TRANSFORM pages PREPEND man/)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
  install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/plimsoll COMPONENT runtime
          FILES_MATCHING PATTERN "*.json")
  install(FILES packaging/completion/plimsoll.bash COMPONENT runtime RENAME plimsoll
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/man/plimsoll-machine.5)
  install(FILES man/plimsoll-machine.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT runtime)
endif()
