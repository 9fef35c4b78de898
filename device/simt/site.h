// A place in the source. `here()` as a default argument is the place of the call.
#pragma once

#include <string_view>

#define GDN_SIMT_INLINE [[gnu::always_inline]] inline

namespace gdn::simt {

struct Site {
  const char* file = "";
  int line = 0;
  friend constexpr bool operator==(const Site& one, const Site& two) {
    return one.line == two.line && (one.file == two.file || std::string_view(one.file) == two.file);
  }
};

constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {file, line};
}

}  // namespace gdn::simt
