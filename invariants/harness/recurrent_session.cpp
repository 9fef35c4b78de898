// The recurrence of an engine on its own, in buffers that the engine owns.
#include "invariants/harness/recurrent_session.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "invariants/harness/guarded.h"
#include "invariants/harness/lab.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// What lies around states and outputs: a NaN that no calculation makes, exact in all formats.
constexpr uint32_t sentinel_bits = 0xFFE50000U;

gdn_format c_format(Format format) {
  return format == Format::f32 ? GDN_F32 : (format == Format::bf16 ? GDN_BF16 : GDN_F16);
}

size_t bytes_of(Format format) { return format == Format::f32 ? 4 : 2; }

std::vector<uint8_t> stored(const std::vector<float>& numbers, Format format) {
  std::vector<uint8_t> bytes(numbers.size() * bytes_of(format));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (format == Format::f32) {
      std::memcpy(bytes.data() + 4 * i, &numbers[i], 4);
      continue;
    }
    const uint16_t bits = format == Format::bf16 ? bf16_encode(numbers[i]) : f16_encode(numbers[i]);
    std::memcpy(bytes.data() + 2 * i, &bits, 2);
  }
  return bytes;
}

std::vector<float> loaded(const std::vector<uint8_t>& bytes, Format format) {
  std::vector<float> numbers(bytes.size() / bytes_of(format));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (format == Format::f32) {
      std::memcpy(&numbers[i], bytes.data() + 4 * i, 4);
      continue;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    numbers[i] = format == Format::bf16 ? bf16_decode(bits) : f16_decode(bits);
  }
  return numbers;
}

std::vector<float> as_stored(const std::vector<float>& numbers, Format format) {
  return loaded(stored(numbers, format), format);
}

bool same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

gdn_qk_norm_form c_norm(Dialect::QkNorm norm) {
  switch (norm) {
    case Dialect::QkNorm::sum_eps:
      return GDN_QK_NORM_SUM_EPS;
    case Dialect::QkNorm::max_norm:
      return GDN_QK_NORM_MAX;
    case Dialect::QkNorm::mean_eps:
      return GDN_QK_NORM_MEAN_EPS;
    case Dialect::QkNorm::none:
      return GDN_QK_NORM_NONE;
  }
  return GDN_QK_NORM_NONE;
}

std::vector<float> rows(const std::vector<float>& all, int64_t first, int64_t count,
                        int64_t width) {
  if (all.empty()) return {};
  const auto begin = all.begin() + first * width;
  return std::vector<float>(begin, begin + count * width);
}

// The interface knows a second decay by its channel: one that all share is given to each.
RecurrentInputs with_channels(RecurrentInputs in) {
  if (in.dialect.decay != Dialect::Decay::second_scalar) return in;
  std::vector<float> each;
  for (const float x : in.gk) each.insert(each.end(), static_cast<size_t>(in.shape.head_k_dim), x);
  in.gk = std::move(each);
  return in;
}

}  // namespace

RecurrentSession::RecurrentSession(Engine& engine, RecurrentInputs inputs, const PoolLayout& pool)
    : engine_(engine), in_(with_channels(std::move(inputs))), pool_(pool) {}

RecurrentSession::~RecurrentSession() { release_all_but(0); }

void RecurrentSession::release_all_but(size_t kept) {
  inputs_.clear();
  while (buffers_.size() > kept) {
    engine_.api().buffer_release(engine_.handle(), buffers_.back());
    buffers_.pop_back();
  }
}

gdn_status RecurrentSession::create(uint64_t bytes, gdn_buffer& buffer) {
  const gdn_status status = engine_.api().buffer_create(engine_.handle(), bytes, &buffer);
  if (status == GDN_OK) buffers_.push_back(buffer);
  return status;
}

gdn_status RecurrentSession::put(const std::vector<float>& numbers, Format format,
                                 gdn_buffer& buffer) {
  return put_bytes(stored(numbers, format), buffer);
}

gdn_status RecurrentSession::put_bytes(const std::vector<uint8_t>& content, gdn_buffer& buffer) {
  const Lent<uint8_t> bytes(content.begin(), content.end());
  const gdn_status status = create(std::max<size_t>(1, bytes.size()), buffer);
  if (status != GDN_OK || bytes.empty()) return status;
  return engine_.api().buffer_write(engine_.handle(), buffer, 0, bytes.data(), bytes.size());
}

gdn_status RecurrentSession::read_floats(gdn_buffer buffer, Format format, int64_t count,
                                         std::vector<float>& numbers) {
  std::vector<uint8_t> bytes;
  const gdn_status status =
      read_bytes(buffer, static_cast<size_t>(count) * bytes_of(format), bytes);
  numbers = loaded(bytes, format);
  return status;
}

gdn_status RecurrentSession::read_bytes(gdn_buffer buffer, size_t count,
                                        std::vector<uint8_t>& bytes) {
  Guarded<uint8_t> read(count);
  bytes.clear();
  if (count == 0) return GDN_OK;
  const gdn_status status =
      engine_.api().buffer_read(engine_.handle(), buffer, 0, read.data(), count);
  if (!read.intact()) misconduct_ = "buffer_read wrote outside its destination";
  if (status == GDN_OK) bytes = read.content();
  return status;
}

// Among flags that say the opposite.
gdn_status RecurrentSession::put_flag(int32_t flag, gdn_view& from_zero) {
  const int32_t other = flag == 0 ? 1 : 0;
  const int32_t flags[] = {other, other, other, flag, other};
  std::vector<uint8_t> bytes(sizeof flags);
  std::memcpy(bytes.data(), flags, sizeof flags);
  from_zero.format = GDN_I32;
  from_zero.offset = 3;
  from_zero.stride[0] = 1;
  const gdn_status status = put_bytes(bytes, from_zero.buffer);
  if (status == GDN_OK) inputs_.push_back({"from_zero", from_zero.buffer, std::move(bytes)});
  return status;
}

gdn_view RecurrentSession::view(gdn_buffer buffer, Format format,
                                std::vector<int64_t> extents) const {
  gdn_view v = {};
  v.buffer = buffer;
  v.format = c_format(format);
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    v.stride[d] = stride;
    stride *= extents[d];
  }
  return v;
}

gdn_status RecurrentSession::start() {
  const int64_t count = in_.shape.state_count();
  const auto total = static_cast<size_t>(pool_.offset + pool_.slots * (count + pool_.gap));
  surroundings_.assign(total, std::bit_cast<float>(sentinel_bits));
  const Shape& s = in_.shape;
  const bool vk = in_.dialect.state_layout == Dialect::StateLayout::vk;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t head = i / (s.head_k_dim * s.head_v_dim);
    const int64_t k = i / s.head_v_dim % s.head_k_dim;
    const int64_t v = i % s.head_v_dim;
    const int64_t at = vk ? (head * s.head_v_dim + v) * s.head_k_dim + k : i;
    const float x = in_.initial_state.empty() ? 0 : in_.initial_state[static_cast<size_t>(i)];
    surroundings_[static_cast<size_t>(pool_.offset + at)] = x;
  }
  // As it comes back: f16 keeps another NaN.
  surroundings_ = as_stored(surroundings_, in_.dialect.state_storage);
  return put(surroundings_, in_.dialect.state_storage, state_);
}

gdn_status RecurrentSession::fill_arguments(int64_t first, int64_t tokens,
                                            gdn_recurrent_args& args) {
  const Shape& s = in_.shape;
  const Format input = in_.dialect.input_storage;
  struct Given {
    const char* name;
    gdn_view& view;
    const std::vector<float>& numbers;
    Format format;
    std::vector<int64_t> extents;
  };
  const int64_t kh = s.num_k_heads;
  const int64_t kd = s.head_k_dim;
  const int64_t vh = s.num_v_heads;
  const int64_t vd = s.head_v_dim;
  const Given given[] = {{"q", args.q, in_.q, input, {tokens, kh, kd}},
                         {"k", args.k, in_.k, input, {tokens, kh, kd}},
                         {"v", args.v, in_.v, input, {tokens, vh, vd}},
                         {"g", args.g, in_.g, Format::f32, {tokens, vh}},
                         {"gk", args.gk, in_.gk, Format::f32, {tokens, vh, kd}},
                         {"beta", args.beta, in_.beta, Format::f32, {tokens, vh}}};
  for (const Given& i : given) {
    // A stream of no tokens has no numbers; that is not an array that is left out.
    const bool may_be_absent = in_.tokens > 0 || &i.view == &args.g || &i.view == &args.gk;
    if (i.numbers.empty() && may_be_absent) continue;
    int64_t width = 1;
    for (size_t d = 1; d < i.extents.size(); ++d) width *= i.extents[d];
    const std::vector<float> numbers = rows(i.numbers, first, std::max<int64_t>(0, tokens), width);
    gdn_buffer buffer = 0;
    const gdn_status status = put(numbers, i.format, buffer);
    if (status != GDN_OK) return status;
    i.view = view(buffer, i.format, i.extents);
    inputs_.push_back({i.name, buffer, stored(numbers, i.format)});
  }
  args.qk_norm = c_norm(in_.dialect.qk_norm);
  args.qk_norm_eps = s.l2norm_eps;
  args.state_is_vk = in_.dialect.state_layout == Dialect::StateLayout::vk;
  args.head_map_tiled = in_.dialect.head_map == Dialect::HeadMap::tiled;
  args.g_is_linear = in_.dialect.gate_input == Dialect::GateInput::linear_alpha;
  args.scale_on_output = in_.dialect.scale_on == Dialect::ScaleOn::output;
  const bool unscaled = in_.dialect.scale_on == Dialect::ScaleOn::none;
  args.scale_is_given = unscaled || in_.dialect.scale.has_value();
  args.scale = unscaled ? 1 : in_.dialect.scale.value_or(0);
  return GDN_OK;
}

gdn_status RecurrentSession::call(int64_t first, int64_t tokens, std::vector<float>& o,
                                  const Besides& besides) {
  const Shape& s = in_.shape;
  refusal_.clear();
  // What the call before needed is released only now: another call would wipe last_error out.
  release_all_but(1);
  gdn_recurrent_args args = {};
  args.struct_size = sizeof args;
  args.num_sequences = 1;
  args.num_tokens = tokens;
  args.num_k_heads = s.num_k_heads;
  args.head_k_dim = s.head_k_dim;
  args.num_v_heads = s.num_v_heads;
  args.head_v_dim = s.head_v_dim;
  args.num_slots = pool_.slots;
  gdn_status status = fill_arguments(first, tokens, args);
  if (status == GDN_OK && besides.from_zero) status = put_flag(*besides.from_zero, args.from_zero);
  const int64_t count = std::max<int64_t>(0, tokens) * s.v_dim();
  const Format output = in_.dialect.output_storage;
  // Sentinels before and after, in the engine's own memory.
  constexpr int64_t margin = recurrent_margin;
  const std::vector<float> sentinels(static_cast<size_t>(count + 2 * margin),
                                     std::bit_cast<float>(sentinel_bits));
  const std::vector<float> untouched = as_stored(sentinels, output);
  untouched_ = stored(sentinels, output);
  if (status == GDN_OK) status = put_bytes(untouched_, out_);
  if (status != GDN_OK) return status;
  args.o = view(out_, output, {tokens, s.num_v_heads, s.head_v_dim});
  args.o.offset = margin;
  const bool vk = args.state_is_vk != 0;
  args.state = view(state_, in_.dialect.state_storage,
                    {pool_.slots, s.num_v_heads, vk ? s.head_v_dim : s.head_k_dim,
                     vk ? s.head_k_dim : s.head_v_dim});
  args.state.offset = pool_.offset;
  args.state.stride[0] = s.state_count() + pool_.gap;
  status = besides.altered != nullptr && besides.altered->is_any()
               ? call_altered(args, *besides.altered)
               : engine_.api().recurrent(engine_.handle(), &args);
  if (status == GDN_OK) status = look_at_inputs();
  std::vector<float> all;
  if (status == GDN_OK) status = read_floats(out_, output, count + 2 * margin, all);
  if (status == GDN_OK) {
    for (int64_t i = 0; i < margin; ++i) {
      const bool kept = same(all[static_cast<size_t>(i)], untouched[0]) &&
                        same(all[all.size() - 1 - static_cast<size_t>(i)], untouched[0]);
      if (!kept) misconduct_ = "recurrent wrote outside o";
    }
    o.assign(all.begin() + margin, all.end() - margin);
  }
  return status;
}

gdn_status RecurrentSession::call_altered(gdn_recurrent_args& args, const Altered& altered) {
  const size_t state_bytes = surroundings_.size() * bytes_of(in_.dialect.state_storage);
  std::vector<uint8_t> before;
  gdn_status read = read_bytes(state_, state_bytes, before);
  if (read != GDN_OK) return read;
  if (altered.recurrent) altered.recurrent(args);
  const gdn_status status =
      engine_.api().recurrent(engine_.handle(), altered.null_args ? nullptr : &args);
  if (status == GDN_OK) return status;
  // What is read now wipes the engine's words out.
  refusal_ = engine_.last_error();
  std::vector<uint8_t> state;
  std::vector<uint8_t> o;
  read = read_bytes(state_, state_bytes, state);
  if (read == GDN_OK) read = read_bytes(out_, untouched_.size(), o);
  if (read == GDN_OK) read = look_at_inputs();
  if (read != GDN_OK) return read;
  if (state != before) misconduct_ = "recurrent refused and wrote into a state";
  if (o != untouched_) misconduct_ = "recurrent refused and wrote into o";
  return status;
}

gdn_status RecurrentSession::look_at_inputs() {
  for (const Input& input : inputs_) {
    if (input.bytes.empty()) continue;
    Guarded<uint8_t> now(input.bytes.size());
    const gdn_status status = engine_.api().buffer_read(engine_.handle(), input.buffer, 0,
                                                        now.data(), input.bytes.size());
    if (status != GDN_OK) return status;
    if (!now.holds(input.bytes)) {
      misconduct_ = std::string("recurrent wrote into its input ") + input.name;
    }
  }
  return GDN_OK;
}

gdn_status RecurrentSession::state(std::vector<float>& canonical) {
  const Shape& s = in_.shape;
  const int64_t count = s.state_count();
  std::vector<float> all;
  const gdn_status status = read_floats(state_, in_.dialect.state_storage,
                                        static_cast<int64_t>(surroundings_.size()), all);
  if (status != GDN_OK) return status;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto at = static_cast<int64_t>(i) - pool_.offset;
    const bool live = at >= 0 && at < count;
    if (!live && !same(all[i], surroundings_[i])) misconduct_ = "recurrent wrote outside its slot";
  }
  canonical.resize(static_cast<size_t>(count));
  const bool vk = in_.dialect.state_layout == Dialect::StateLayout::vk;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t head = i / (s.head_k_dim * s.head_v_dim);
    const int64_t k = i / s.head_v_dim % s.head_k_dim;
    const int64_t v = i % s.head_v_dim;
    const int64_t at = vk ? (head * s.head_v_dim + v) * s.head_k_dim + k : i;
    canonical[static_cast<size_t>(i)] = all[static_cast<size_t>(pool_.offset + at)];
  }
  return GDN_OK;
}

RecurrentInputs recurrent_inputs(const Case& c, const Numbers& numbers) {
  RecurrentInputs in;
  in.shape = c.shape;
  in.dialect = c.dialect;
  in.tokens = c.subject == Subject::recurrent ? c.tokens : 1;
  const auto take = [&numbers](const char* name) {
    const auto found = numbers.arrays.find(name);
    return found == numbers.arrays.end() ? std::vector<float>{} : found->second;
  };
  in.q = take("q");
  in.k = take("k");
  in.v = take("v");
  in.g = take("g");
  in.gk = take("gk");
  in.beta = take("beta");
  in.initial_state = take("S");
  return in;
}

RecurrentRun Lab::run_recurrent(const RecurrentInputs& inputs) const {
  RecurrentRun run;
  const auto stop = [&run](gdn_status status, std::string why) {
    run.conduct = refusal(status, std::move(why));
    return std::move(run);
  };
  Case likewise;
  likewise.subject = Subject::recurrent;
  std::string why = why_not(likewise);
  if (!why.empty()) return stop(GDN_UNSUPPORTED, why);
  std::optional<Engine> engine =
      Engine::open(engine_, inputs.shape, default_options(), &run.conduct);
  if (!engine) return run;
  RecurrentSession session(*engine, inputs, PoolLayout{});
  const auto refused = [&](const char* what, gdn_status status) {
    return stop(status, std::string(what) + ": " + std::string(name_of(status)) + ": " +
                            engine->last_error());
  };
  gdn_status status = session.start();
  if (status != GDN_OK) return refused("setting up recurrent", status);
  std::vector<int64_t> calls = inputs.calls;
  if (calls.empty()) calls.push_back(inputs.tokens);
  int64_t first = 0;
  for (const int64_t tokens : calls) {
    std::vector<float> o;
    status = session.call(first, tokens, o);
    if (status == GDN_OK) status = session.state(run.states.emplace_back());
    if (status != GDN_OK) return refused("recurrent", status);
    run.o.insert(run.o.end(), o.begin(), o.end());
    first += tokens;
  }
  run.conduct = claim(session.misconduct().empty(), session.misconduct());
  return run;
}

}  // namespace gdn
