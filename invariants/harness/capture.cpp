// Tells the formats apart, and reads the smallest of them.
#include "invariants/harness/capture.h"

#include <utility>

#include <fmt/format.h>

#include "invariants/harness/capture_fields.h"
#include "invariants/harness/capture_readers.h"
#include "reference/formats.h"

namespace gdn {
namespace {

Q4Capture read_q4(CaptureFields& fields) {
  Q4Capture out;
  const StoredTensor* weights = fields.file().find("weights");
  if (weights == nullptr || weights->shape.size() != 2) {
    fields.fail("has no tensor 'weights' of two dimensions, expected [rows, cols]");
    return out;
  }
  out.rows = weights->shape[0];
  out.cols = weights->shape[1];
  if (const std::string bad = why_not_q4_tile(out.rows, out.cols); !bad.empty()) {
    fields.fail(fmt::format("tensor 'weights' is {}: {}", text_of(weights->shape), bad));
    return out;
  }
  out.weights = fields.floats("weights", weights->shape);
  out.decoded = fields.floats("dequantised", weights->shape);
  const std::vector<int64_t> packed = {out.rows, out.cols / q4_block_weights * q4_block_bytes};
  if (const StoredTensor* blocks = fields.tensor("q4_0", packed)) {
    if (blocks->type != StoredType::u8) {
      fields.fail(fmt::format("tensor 'q4_0' is of type {}, expected U8", blocks->type_name));
    } else {
      out.blocks.assign(blocks->bytes.begin(), blocks->bytes.end());
    }
  }
  return out;
}

}  // namespace

std::optional<Capture> read_capture(const Safetensors& file, std::string* why) {
  CaptureFields fields(file);
  Capture out;
  out.path = file.path();
  out.format = fields.optional_text("format").value_or("");
  out.source = printable(fields.optional_text("source").value_or(""));
  if (out.format == "gdn-oracle-1") {
    out.content = read_layer_capture(fields);
  } else if (out.format == "gdn-trace-1") {
    out.content = read_trace_capture(fields);
  } else if (out.format == "q4-oracle-1") {
    out.content = read_q4(fields);
  } else {
    fields.fail(
        fmt::format("metadata 'format' is '{}', expected gdn-oracle-1, gdn-trace-1 or q4-oracle-1",
                    printable(out.format)));
  }
  if (!fields.failed()) return out;
  *why = fields.why();
  return std::nullopt;
}

std::optional<Capture> read_capture(const std::string& path, std::string* why) {
  const auto file = Safetensors::open(path, why);
  if (!file) return std::nullopt;
  return read_capture(*file, why);
}

std::vector<float> canonical_state(std::span<const float> stored, const Shape& shape,
                                   Dialect::StateLayout layout) {
  if (layout == Dialect::StateLayout::kv) return {stored.begin(), stored.end()};
  const auto heads = static_cast<size_t>(shape.num_v_heads);
  const auto kd = static_cast<size_t>(shape.head_k_dim);
  const auto vd = static_cast<size_t>(shape.head_v_dim);
  std::vector<float> out(stored.size());
  for (size_t head = 0; head < heads; ++head) {
    for (size_t j = 0; j < vd; ++j) {
      for (size_t i = 0; i < kd; ++i) {
        out[(head * kd + i) * vd + j] = stored[(head * vd + j) * kd + i];
      }
    }
  }
  return out;
}

}  // namespace gdn
