// gdn-trace-1: the recurrence alone, with its initial state and the conventions it followed.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "invariants/harness/capture_readers.h"

namespace gdn {
namespace {

// The shape follows from q and v, whose extents are those of bytes in the file.
Shape shape_of(CaptureFields& fields, int64_t& tokens) {
  const StoredTensor* q = fields.file().find("q");
  const StoredTensor* v = fields.file().find("v");
  if (q == nullptr || q->shape.size() != 4 || v == nullptr || v->shape.size() != 4) {
    fields.fail("has no 'q' and 'v' of four dimensions, expected [1, T, H, K] and [1, T, HV, V]");
    return {};
  }
  tokens = q->shape[1];
  Shape shape;
  shape.hidden_size = 1;
  shape.conv_kernel = 1;
  shape.num_k_heads = q->shape[2];
  shape.head_k_dim = q->shape[3];
  shape.num_v_heads = v->shape[2];
  shape.head_v_dim = v->shape[3];
  if (q->count == 0 || v->count == 0) {
    fields.fail(fmt::format("'q' is {} and 'v' is {}, expected at least one token",
                            text_of(q->shape), text_of(v->shape)));
  } else if (shape.num_v_heads % shape.num_k_heads != 0) {
    fields.fail(fmt::format("has {} value heads, expected a multiple of its {} key heads",
                            shape.num_v_heads, shape.num_k_heads));
  }
  return shape;
}

Dialect dialect_of(CaptureFields& fields) {
  Dialect dialect;
  dialect.name = "trace";
  if (const auto name = fields.optional_text("dialect")) {
    const auto preset = dialect_named(*name);
    if (!preset) {
      fields.fail(fmt::format("metadata 'dialect' is '{}', expected one of {}", printable(*name),
                              fmt::join(dialect_names(), ", ")));
      return dialect;
    }
    dialect = *preset;
  }
  using D = Dialect;
  const auto keep = [](auto value) { return static_cast<size_t>(value); };
  dialect.state_layout =
      D::StateLayout(fields.choice("state_layout", {"KV", "VK"}, keep(dialect.state_layout)));
  dialect.head_map =
      D::HeadMap(fields.choice("head_map", {"grouped", "tiled"}, keep(dialect.head_map)));
  dialect.scale_on =
      D::ScaleOn(fields.choice("scale_on", {"q", "output", "none"}, keep(dialect.scale_on)));
  dialect.scale = fields.number("scale");
  const bool normed = fields.choice("use_qk_l2norm", {"false", "true"}, 1) == 1;
  dialect.qk_norm = normed ? D::QkNorm::sum_eps : D::QkNorm::none;
  // g and gk are logarithms in this format, whatever the source takes.
  dialect.gate_input = D::GateInput::log_g;
  return dialect;
}

Format storage_of(const Safetensors& file, std::string_view name) {
  const StoredTensor* found = file.find(name);
  if (found == nullptr) return Format::f32;
  if (found->type == StoredType::bf16) return Format::bf16;
  return found->type == StoredType::f16 ? Format::f16 : Format::f32;
}

// "1, newest first": the count alone matters.
int64_t snapshot_count(CaptureFields& fields) {
  const auto text = fields.optional_text("snapshots");
  if (!text) return 1;
  uint16_t count = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (error == std::errc{} && count >= 1) return count;
  fields.fail(fmt::format("metadata 'snapshots' is '{}', expected a count from 1 to 65535",
                          printable(*text)));
  return 1;
}

}  // namespace

TraceCapture read_trace_capture(CaptureFields& fields) {
  TraceCapture out;
  out.shape = shape_of(fields, out.tokens);
  out.dialect = dialect_of(fields);
  const bool normed = out.dialect.qk_norm != Dialect::QkNorm::none;
  if (normed) out.shape.l2norm_eps = fields.number("l2norm_eps");
  if (fields.failed()) return out;

  const int64_t T = out.tokens;
  const int64_t kh = out.shape.num_k_heads;
  const int64_t kd = out.shape.head_k_dim;
  const int64_t vh = out.shape.num_v_heads;
  const int64_t vd = out.shape.head_v_dim;
  out.q = fields.floats("q", {1, T, kh, kd});
  out.k = fields.floats("k", {1, T, kh, kd});
  out.v = fields.floats("v", {1, T, vh, vd});
  out.beta = fields.floats("beta", {1, T, vh});
  if (!fields.has("g") && !fields.has("gk")) fields.fail("has no decay, expected 'g' or 'gk'");
  if (fields.has("g")) out.g = fields.floats("g", {1, T, vh});
  if (fields.has("gk")) out.gk = fields.floats("gk", {1, T, vh, kd});
  out.o = fields.floats("o", {1, T, vh, vd});

  const bool kv = out.dialect.state_layout == Dialect::StateLayout::kv;
  std::vector<int64_t> state = {1, vh, kv ? kd : vd, kv ? vd : kd};
  out.initial_state = fields.floats("initial_state", state);
  out.final_state = fields.floats("final_state", state);
  if (const int64_t count = snapshot_count(fields); count > 1) {
    state[0] = count;
    out.snapshots = fields.floats("snapshots", state);
    if (count > T) fields.fail(fmt::format("has {} snapshots of {} tokens", count, T));
  }

  using Decay = Dialect::Decay;
  out.dialect.decay =
      out.gk.empty() ? Decay::per_head : (out.g.empty() ? Decay::per_channel : Decay::g_then_gk);
  const auto stored = [&](const char* name) { return storage_of(fields.file(), name); };
  out.dialect.input_storage = stored("v");
  out.dialect.output_storage = stored("o");
  out.dialect.state_storage = stored("final_state");
  for (const char* name : {"q", "k", "beta"}) {
    if (stored(name) != out.dialect.input_storage) {
      fields.fail(fmt::format("tensor '{}' is stored unlike 'v', expected one format", name));
    }
  }
  if (stored("initial_state") != out.dialect.state_storage) {
    fields.fail("tensor 'initial_state' is stored unlike 'final_state', expected one format");
  }
  for (const char* name : {"g", "gk"}) {
    if (stored(name) != Format::f32) {
      fields.fail(fmt::format("tensor '{}' is stored in half precision, expected F32", name));
    }
  }
  out.is_triton = fields.optional_text("source").value_or("").find("Triton") != std::string::npos;
  return out;
}

}  // namespace gdn
