# Dear ImGui: the target FLASHSTEP_IMGUI, from the system's package, or compiled from a source tree in FLASHSTEP_IMGUI_DIR.
set(FLASHSTEP_IMGUI_DIR "" CACHE PATH "A source tree of Dear ImGui to build instead of the system's package")

add_library(FLASHSTEP_IMGUI INTERFACE)
# Its vector operators, before whichever header of it comes first.
target_compile_definitions(FLASHSTEP_IMGUI INTERFACE IMGUI_DEFINE_MATH_OPERATORS)
if(NOT FLASHSTEP_IMGUI_DIR)
  flashstep_need_pc(FLASHSTEP_IMGUI_PACKAGE imgui libimgui-dev)
  target_link_libraries(FLASHSTEP_IMGUI INTERFACE PkgConfig::FLASHSTEP_IMGUI_PACKAGE)
  return()
endif()

if(NOT EXISTS ${FLASHSTEP_IMGUI_DIR}/imgui.h)
  message(FATAL_ERROR "FLASHSTEP_IMGUI_DIR is ${FLASHSTEP_IMGUI_DIR}, but there is no imgui.h. It has to be the top folder of Dear ImGui's "
                      "sources (1.86 or later).")
endif()
flashstep_need_pc(FLASHSTEP_FREETYPE freetype2 libfreetype-dev)
set(imgui_sources imgui imgui_draw imgui_tables imgui_widgets backends/imgui_impl_glfw backends/imgui_impl_opengl3
                  misc/freetype/imgui_freetype misc/cpp/imgui_stdlib)
list(TRANSFORM imgui_sources PREPEND ${FLASHSTEP_IMGUI_DIR}/)
list(TRANSFORM imgui_sources APPEND .cpp)
add_library(flashstep_imgui STATIC ${imgui_sources})
target_include_directories(flashstep_imgui SYSTEM PUBLIC ${FLASHSTEP_IMGUI_DIR} ${FLASHSTEP_IMGUI_DIR}/misc/freetype
                           ${FLASHSTEP_IMGUI_DIR}/misc/cpp)
target_compile_definitions(flashstep_imgui PUBLIC IMGUI_ENABLE_FREETYPE)
target_link_libraries(flashstep_imgui PUBLIC PkgConfig::FLASHSTEP_FREETYPE PkgConfig::FLASHSTEP_GLFW OpenGL::OpenGL ${CMAKE_DL_LIBS})
target_link_libraries(FLASHSTEP_IMGUI INTERFACE flashstep_imgui)
