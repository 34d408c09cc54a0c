# cmake -DOUTPUT=FILE.cpp -DLIST=FILE -P embed_recordings.cmake: a C++ file with the bytes of each recording. LIST holds
# their paths, one a line, .../<device>/<preset>.<kernel>.fst; there may be none.
file(STRINGS ${LIST} files)
set(arrays "")
set(rows "")
set(count 0)
set(most_bytes 1048576)  # of one recording
foreach(path IN LISTS files)
  if(NOT path MATCHES "/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)\\.([A-Za-z0-9_-]+)\\.fst$")
    message(FATAL_ERROR "${path}: a recording is named <device>/<preset>.<kernel>.fst, in letters, digits, - and _. "
                        "Rename the file or its folder.")
  endif()
  set(names "\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_2}\", \"${CMAKE_MATCH_3}\"")
  if(IS_DIRECTORY ${path})
    message(FATAL_ERROR "${path}: a folder, but a recording is a file. Remove or rename it.")
  endif()
  file(SIZE ${path} size)
  if(size GREATER most_bytes)
    message(FATAL_ERROR "${path}: ${size} bytes, but the limit is ${most_bytes}: recordings in the repository are "
                        "small. Record a smaller problem, or keep the file elsewhere.")
  endif()
  # One literal of escaped bytes: compilers read it many times faster than a list of numbers.
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(APPEND arrays "constexpr char kBytes${count}[] = \"${bytes}\";\n")
  string(APPEND rows "    Recording{${names}, {kBytes${count}, sizeof(kBytes${count}) - 1}},\n")
  math(EXPR count "${count} + 1")
endforeach()
set(text "// The recordings of kernel runs on GPUs; written by cmake/embed_recordings.cmake.\n")
string(APPEND text "#include <array>\n\n#include \"lab/recorded.h\"\n\nnamespace flashstep {\nnamespace {\n\n")
string(APPEND text "${arrays}\nconstexpr std::array<Recording, ${count}> kRecordings{${rows}};\n\n}  // namespace\n\n")
string(APPEND text "std::span<const Recording> recordings() { return kRecordings; }\n\n}  // namespace flashstep\n")
file(WRITE ${OUTPUT} "${text}")
