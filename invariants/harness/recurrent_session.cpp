// The recurrence of an engine on its own, in buffers that the engine owns.
#include "invariants/harness/recurrent_session.h"

#include <algorithm>
#include <cstring>

#include "invariants/harness/guarded.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/recurrent_conventions.h"

namespace gdn {
namespace {

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

gdn_status RecurrentSession::put_indices(const char* name, const std::vector<int64_t>& indices,
                                         int32_t around, gdn_view& view) {
  constexpr int64_t before = 3;
  std::vector<int32_t> all(before, around);
  for (const int64_t index : indices) all.push_back(static_cast<int32_t>(index));
  all.push_back(around);
  std::vector<uint8_t> bytes(all.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), all.data(), bytes.size());
  view.format = GDN_I32;
  view.offset = before;
  view.stride[0] = 1;
  const gdn_status status = put_bytes(bytes, view.buffer);
  if (status == GDN_OK) inputs_.push_back({name, view.buffer, std::move(bytes)});
  return status;
}

gdn_status RecurrentSession::put_lists(const Call& call, gdn_recurrent_args& args) {
  // More tokens, slots and accepted ones than there are.
  constexpr int32_t too_large = 0x7FFF'FF00;
  const bool from_zero = !call.from_zero.empty() && call.from_zero.front() != 0;
  struct List {
    const char* name;
    const std::vector<int64_t>& entries;
    int32_t around;
    gdn_view& view;
  };
  const List lists[] = {{"sequences", batch_.coded, too_large, args.sequences},
                        {"slots", call.slots, too_large, args.slots},
                        {"accepted", call.accepted, too_large, args.accepted},
                        {"from_zero", call.from_zero, from_zero ? 0 : 1, args.from_zero}};
  for (const List& list : lists) {
    if (list.entries.empty()) continue;
    const gdn_status status = put_indices(list.name, list.entries, list.around, list.view);
    if (status != GDN_OK) return status;
  }
  return GDN_OK;
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

int64_t RecurrentSession::place_in_state(int64_t i) const {
  const Shape& s = in_.shape;
  if (in_.dialect.state_layout == Dialect::StateLayout::kv) return i;
  const int64_t head = i / (s.head_k_dim * s.head_v_dim);
  const int64_t k = i / s.head_v_dim % s.head_k_dim;
  const int64_t v = i % s.head_v_dim;
  return (head * s.head_v_dim + v) * s.head_k_dim + k;
}

int64_t RecurrentSession::place_of(int64_t i) const {
  const int64_t count = in_.shape.state_count();
  return pool_.offset + i / count * (count + pool_.gap) + place_in_state(i % count);
}

gdn_view RecurrentSession::pool_view(gdn_buffer buffer, int64_t states) const {
  const Shape& s = in_.shape;
  const bool vk = in_.dialect.state_layout == Dialect::StateLayout::vk;
  return view(
      buffer, in_.dialect.state_storage,
      {states, s.num_v_heads, vk ? s.head_v_dim : s.head_k_dim, vk ? s.head_k_dim : s.head_v_dim});
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

gdn_status RecurrentSession::call(const Call& call, int64_t first,
                                  std::map<std::string, std::vector<float>>& out,
                                  const Altered* altered) {
  const Shape& s = in_.shape;
  const int64_t tokens = call.at(Argument::tokens);
  refusal_.clear();
  // What the call before needed is released only now: another call would wipe last_error out.
  release_all_but(1);
  Case likewise;
  likewise.subject = Subject::recurrent;
  likewise.shape = s;
  likewise.dialect = in_.dialect;
  likewise.pool = pool_;
  batch_ = batch_of(likewise, call);
  gdn_recurrent_args args = {};
  args.struct_size = sizeof args;
  args.num_sequences = batch_.sequence_count;
  args.num_tokens = tokens;
  args.num_k_heads = s.num_k_heads;
  args.head_k_dim = s.head_k_dim;
  args.num_v_heads = s.num_v_heads;
  args.head_v_dim = s.head_v_dim;
  args.num_slots = pool_.slots;
  args.sequence_coding = c_coding(in_.dialect.sequence_coding);
  args.state_writes = c_writes(batch_.writes);
  args.padding = c_padding(in_.dialect.padding);
  gdn_status status = fill_arguments(first, tokens, args);
  if (status == GDN_OK) status = put_lists(call, args);
  if (status == GDN_OK) status = put_outputs(call, args);
  if (status != GDN_OK) return status;
  args.state = pool_view(state_, pool_.slots);
  args.state.offset = pool_.offset;
  args.state.stride[0] = s.state_count() + pool_.gap;
  if (altered != nullptr && altered->recurrent) altered->recurrent(args);
  const bool is_null = altered != nullptr && altered->null_args;
  status = engine_.api().recurrent(engine_.handle(), is_null ? nullptr : &args);
  if (status != GDN_OK) {
    // What is read now wipes the engine's words out.
    refusal_ = engine_.last_error();
    const gdn_status read = look_at_outputs_of_refused();
    return read == GDN_OK ? status : read;
  }
  status = look_at_inputs();
  return status == GDN_OK ? take_outputs(out) : status;
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

}  // namespace gdn
