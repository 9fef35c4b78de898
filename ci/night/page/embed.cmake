# Writes the files of the page into a C++ source: cmake -D OUT=FILE -D CSS=... -D JS=... -D CHARTS=...
# CHARTS may be empty: there is no library.
set(text "// Generated from ci/night/page by embed.cmake.\n#include \"ci/night/page_files.h\"\n\n")
string(APPEND text "namespace gdn {\nnamespace {\n\n")
foreach(entry "css;${CSS}" "js;${JS}" "charts;${CHARTS}")
  list(GET entry 0 name)
  list(GET entry 1 path)
  set(bytes "")
  if(path)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  endif()
  # The zero at the end keeps an empty file an array.
  string(APPEND text "const unsigned char ${name}[] = {${bytes}0};\n")
endforeach()
string(APPEND text "
std::string_view text_of(const unsigned char* bytes, unsigned long size) {
  return {reinterpret_cast<const char*>(bytes), size - 1};
}

}  // namespace

std::string_view page_css() { return text_of(css, sizeof css); }
std::string_view page_js() { return text_of(js, sizeof js); }
std::string_view chart_library() { return text_of(charts, sizeof charts); }

}  // namespace gdn
")
file(WRITE ${OUT} "${text}")
