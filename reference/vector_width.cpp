// Asks the processor once.
#include "reference/vector_width.h"

namespace gdn {

const std::vector<VectorWidth>& vector_widths_here() {
  static const std::vector<VectorWidth> here = [] {
    std::vector<VectorWidth> widths{VectorWidth::portable};
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) widths.push_back(VectorWidth::of_256_bits);
    if (__builtin_cpu_supports("avx512f")) widths.push_back(VectorWidth::of_512_bits);
#endif
    return widths;
  }();
  return here;
}

}  // namespace gdn
