# Writes the files of the page into a C++ source: cmake -D OUT=FILE -D CSS=... -D JS=... -D CHARTS=...
# CHARTS may be empty: there is no library.

# The base64 of a SHA-256 that is given in hexadecimal: three digits are two characters.
function(base64_of hash out)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(characters "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hash}00" ${at} 3 digits)
    math(EXPR first "0x${digits} >> 6")
    math(EXPR second "0x${digits} & 63")
    string(SUBSTRING ${alphabet} ${first} 1 first)
    string(SUBSTRING ${alphabet} ${second} 1 second)
    string(APPEND characters ${first}${second})
  endforeach()
  # 32 bytes end within the last three: its fourth character is none.
  string(REGEX REPLACE ".$" "=" characters ${characters})
  set(${out} ${characters} PARENT_SCOPE)
endfunction()

set(text "// Generated from ci/night/page by embed.cmake.\n#include \"ci/night/page_files.h\"\n\n")
string(APPEND text "namespace gdn {\nnamespace {\n\n")
foreach(entry "css;${CSS}" "js;${JS}" "charts;${CHARTS}")
  list(GET entry 0 name)
  list(GET entry 1 path)
  set(bytes "")
  string(SHA256 hash "")
  if(path)
    file(SHA256 ${path} hash)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  endif()
  # The zero at the end keeps an empty file an array.
  string(APPEND text "const unsigned char ${name}[] = {${bytes}0};\n")
  base64_of(${hash} hash)
  string(APPEND text "const char ${name}_hash[] = \"'sha256-${hash}'\";\n")
endforeach()
string(APPEND text "
std::string_view text_of(const unsigned char* bytes, unsigned long size) {
  return {reinterpret_cast<const char*>(bytes), size - 1};
}

}  // namespace

std::string_view page_css() { return text_of(css, sizeof css); }
std::string_view page_js() { return text_of(js, sizeof js); }
std::string_view chart_library() { return text_of(charts, sizeof charts); }

std::string_view page_css_source() { return css_hash; }
std::string_view page_js_source() { return js_hash; }
std::string_view chart_library_source() { return charts_hash; }

}  // namespace gdn
")
file(WRITE ${OUT} "${text}")
