// Hostile bytes as a capture file: it is refused with its reason, or read without touching a byte
// beyond it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/guard_page.h"
#include "invariants/harness/capture.h"
#include "invariants/harness/safetensors.h"

namespace {

void demand(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_safetensors: %s\n", claim);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gdn::GuardedBytes file({data, size});
  std::string why;
  const std::optional<gdn::Safetensors> parsed =
      gdn::Safetensors::parse(file.bytes(), "input", &why);
  demand(parsed.has_value() == why.empty(), "a file and a reason against it, or neither");
  if (!parsed) return 0;
  for (const gdn::StoredTensor& tensor : parsed->tensors()) {
    const uint8_t* const end = tensor.bytes.data() + tensor.bytes.size();
    demand(tensor.bytes.empty() ||
               (tensor.bytes.data() >= file.bytes().data() && end <= file.bytes().data() + size),
           "a tensor lies outside its file");
    const std::vector<float> numbers = gdn::to_floats(tensor);
    demand(numbers.empty() || static_cast<int64_t>(numbers.size()) == tensor.count,
           "another count of numbers than the shape's");
  }
  why.clear();
  const std::optional<gdn::Capture> capture = gdn::read_capture(*parsed, &why);
  demand(capture.has_value() == why.empty(), "a capture and a reason against it, or neither");
  return 0;
}
