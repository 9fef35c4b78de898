// Hostile bytes as a capture file: it is refused with its reason, or read without touching a byte
// beyond it.
#include <cstdint>
#include <cstdlib>

#include "fuzz/demand.h"
#include "fuzz/guard_page.h"
#include "invariants/harness/capture.h"
#include "invariants/harness/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gdn::GuardedBytes file({data, size});
  std::string why;
  const std::optional<gdn::Safetensors> parsed =
      gdn::Safetensors::parse(file.bytes(), "input", &why);
  gdn::demand(parsed.has_value() == why.empty(), "a file and a reason against it, or neither");
  if (!parsed) return 0;
  for (const gdn::StoredTensor& tensor : parsed->tensors()) {
    const uint8_t* const end = tensor.bytes.data() + tensor.bytes.size();
    gdn::demand(tensor.bytes.empty() || (tensor.bytes.data() >= file.bytes().data() &&
                                         end <= file.bytes().data() + size),
                "a tensor lies outside its file");
    const std::vector<float> numbers = gdn::to_floats(tensor);
    gdn::demand(numbers.empty() || static_cast<int64_t>(numbers.size()) == tensor.count,
                "another count of numbers than the shape's");
  }
  why.clear();
  const std::optional<gdn::Capture> capture = gdn::read_capture(*parsed, &why);
  gdn::demand(capture.has_value() == why.empty(), "a capture and a reason against it, or neither");
  return 0;
}
