// Claim:   recurrent gives the same bits wherever its arrays lie: as rows of wider rows, heads
//          first, or with elements apart; and what lies between their elements stays as it was.
// Why:     q, k and v are slices of one projection, and index arrays columns of a scheduler's
//          table: an engine that takes them as packed is right in every test of its own.
// Bound:   none: equal bits to packed arrays, and sentinels between the elements.
// Origin:  the stride from token to token taken for heads times channels.
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Extents = std::vector<int64_t>;

constexpr int64_t tokens = 4;  // of which the last belongs to no sequence
constexpr int64_t sequences = 2;
constexpr int64_t slots = 4;
constexpr int64_t snapshots = 2;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

enum class Layout : uint8_t { packed, rows_of_wider_rows, second_index_first, elements_apart };

// Strides by what an array's elements lie apart, and the room that it takes.
int64_t lay_out(Layout layout, const Extents& extents, gdn_view& view) {
  std::vector<size_t> order;  // of dimensions, the one that moves fastest first
  for (size_t d = extents.size(); d-- > 0;) order.push_back(d);
  const bool swaps = layout == Layout::second_index_first && extents.size() > 2;
  if (swaps) std::swap(order[order.size() - 1], order[order.size() - 2]);
  int64_t stride = layout == Layout::elements_apart ? 3 : 1;
  for (const size_t d : order) {
    const bool is_last = d == order.back();
    if (layout == Layout::rows_of_wider_rows && is_last) stride += 5;
    view.stride[d] = stride;
    stride *= extents[d];
  }
  view.offset = layout == Layout::packed ? 0 : 7;
  return view.offset + stride;
}

int64_t count_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

// The element of its buffer that is number i of an array, the last index moving fastest.
int64_t place_of(int64_t i, const Extents& extents, const gdn_view& view) {
  int64_t at = view.offset;
  for (size_t d = extents.size(); d-- > 0; i /= extents[d]) {
    at += i % extents[d] * view.stride[d];
  }
  return at;
}

// Numbers that every format holds: multiples of 1/8.
struct Array {
  const char* name;
  gdn_view gdn_recurrent_args::*view;
  Format format;  // ignored where there are indices
  Extents extents;
  double least = -1;
  double most = 1;
  std::vector<int32_t> indices = {};
};

size_t width_of(gdn_format format) { return format == GDN_BF16 || format == GDN_F16 ? 2 : 4; }

gdn_format as_c(Format format) {
  if (format == Format::f32) return GDN_F32;
  return format == Format::bf16 ? GDN_BF16 : GDN_F16;
}

void put(std::vector<uint8_t>& bytes, int64_t element, const Array& array, size_t i, Rng& rng) {
  const auto write = [&](const auto bits) {
    std::memcpy(&bytes[static_cast<size_t>(element) * sizeof bits], &bits, sizeof bits);
  };
  if (!array.indices.empty()) return write(array.indices[i]);
  const auto eighths =
      rng.range(static_cast<int64_t>(8 * array.least), static_cast<int64_t>(8 * array.most));
  const float number = static_cast<float>(eighths) / 8;
  if (array.format == Format::f32) return write(std::bit_cast<uint32_t>(number));
  write(array.format == Format::bf16 ? bf16_encode(number) : f16_encode(number));
}

std::vector<Array> arrays_of(const Case& c, gdn_state_writes writes) {
  using A = gdn_recurrent_args;
  const Shape& s = c.shape;
  const bool vk = c.dialect.state_layout == Dialect::StateLayout::vk;
  const int64_t rows = vk ? s.head_v_dim : s.head_k_dim;
  const int64_t cols = vk ? s.head_k_dim : s.head_v_dim;
  const Format in = c.dialect.input_storage;
  const Format state = c.dialect.state_storage;
  const bool by_token = writes == GDN_WRITE_EVERY_TOKEN;
  const std::vector<int32_t> slot_of =
      by_token ? std::vector<int32_t>{3, 1, 2, 0x7FFFFFF0} : std::vector<int32_t>{3, 1};
  std::vector<Array> arrays = {
      {"q", &A::q, in, {tokens, s.num_k_heads, s.head_k_dim}},
      {"k", &A::k, in, {tokens, s.num_k_heads, s.head_k_dim}},
      {"v", &A::v, in, {tokens, s.num_v_heads, s.head_v_dim}},
      {"beta", &A::beta, Format::f32, {tokens, s.num_v_heads}, 0, 1},
      {"g", &A::g, Format::f32, {tokens, s.num_v_heads}, -2, 0},
      {"o", &A::o, c.dialect.output_storage, {tokens, s.num_v_heads, s.head_v_dim}},
      {"state", &A::state, state, {slots, s.num_v_heads, rows, cols}},
      {"sequences", &A::sequences, Format::f32, {sequences}, 0, 0, {2, 1}},
      {"slots", &A::slots, Format::f32, {std::ssize(slot_of)}, 0, 0, slot_of},
      {"from_zero", &A::from_zero, Format::f32, {sequences}, 0, 0, {0, 1}}};
  if (c.dialect.decay != Dialect::Decay::per_head) {
    arrays.push_back({"gk", &A::gk, Format::f32, {tokens, s.num_v_heads, s.head_k_dim}, -2, 0});
  }
  if (by_token) {
    arrays.push_back({"accepted", &A::accepted, Format::f32, {sequences}, 0, 0, {2, 1}});
  }
  if (writes == GDN_WRITE_LAST) {
    arrays.push_back(
        {"snapshots", &A::snapshots, state, {snapshots * sequences, s.num_v_heads, rows, cols}});
  }
  return arrays;
}

gdn_recurrent_args scalars_of(const Case& c, gdn_state_writes writes) {
  gdn_recurrent_args a = {};
  a.struct_size = sizeof a;
  a.num_sequences = sequences;
  a.num_tokens = tokens;
  a.num_k_heads = c.shape.num_k_heads;
  a.head_k_dim = c.shape.head_k_dim;
  a.num_v_heads = c.shape.num_v_heads;
  a.head_v_dim = c.shape.head_v_dim;
  a.num_slots = slots;
  a.num_snapshots = writes == GDN_WRITE_LAST ? snapshots : 0;
  a.sequence_coding = GDN_LENGTHS;
  a.state_writes = writes;
  a.padding = GDN_NO_PADDING;
  a.state_is_vk = c.dialect.state_layout == Dialect::StateLayout::vk;
  a.head_map_tiled = c.dialect.head_map == Dialect::HeadMap::tiled;
  return a;
}

// Every element of an array in the order of its indices, and what lies between them.
struct Contents {
  std::vector<uint8_t> elements, between;
};

Contents taken_apart(const std::vector<uint8_t>& bytes, const gdn_view& view,
                     const Extents& extents) {
  const size_t width = width_of(view.format);
  std::vector<bool> is_element(bytes.size(), false);
  Contents all;
  for (int64_t i = 0; i < count_of(extents); ++i) {
    const int64_t at = place_of(i, extents, view);
    for (size_t b = static_cast<size_t>(at) * width; b < static_cast<size_t>(at + 1) * width; ++b) {
      all.elements.push_back(bytes[b]);
      is_element[b] = true;
    }
  }
  for (size_t b = 0; b < bytes.size(); ++b) {
    if (!is_element[b]) all.between.push_back(bytes[b]);
  }
  return all;
}

// The elements of all arrays after a call, by name; every byte between them is as it was.
Verdict run_laid_out(Layout layout, gdn_state_writes writes, const Case& c, const Engine& engine,
                     std::map<std::string, std::vector<uint8_t>>& after) {
  const gdn_api& api = engine.api();
  gdn_recurrent_args args = scalars_of(c, writes);
  const std::vector<Array> arrays = arrays_of(c, writes);
  const auto served = [&](const char* call, gdn_status status) {
    return status == GDN_OK
               ? claim(true, "")
               : refusal(status, std::string(call) + ": " + std::string(name_of(status)) + ": " +
                                     engine.last_error());
  };
  Verdict all = claim(true, "");
  std::vector<std::vector<uint8_t>> before;
  for (const Array& array : arrays) {
    gdn_view& view = args.*array.view;
    view.format = array.indices.empty() ? as_c(array.format) : GDN_I32;
    const int64_t room = lay_out(layout, array.extents, view);
    // As a number a NaN, as an index far out of range.
    std::vector<uint8_t> bytes(static_cast<size_t>(room + 7) * width_of(view.format), 0x7F);
    // The same numbers in every layout.
    Rng rng = Rng{c.seed}.stream(array.name);
    for (int64_t i = 0; i < count_of(array.extents); ++i) {
      put(bytes, place_of(i, array.extents, view), array, static_cast<size_t>(i), rng);
    }
    const auto size = static_cast<uint64_t>(bytes.size());
    all = both(std::move(all),
               served("buffer_create", api.buffer_create(engine.handle(), size, &view.buffer)));
    if (!all.holds()) return all;
    all = both(std::move(all), served("buffer_write", api.buffer_write(engine.handle(), view.buffer,
                                                                       0, bytes.data(), size)));
    before.push_back(std::move(bytes));
  }
  if (all.holds()) all = served("recurrent", api.recurrent(engine.handle(), &args));
  for (size_t i = 0; i < arrays.size() && all.holds(); ++i) {
    const gdn_view& view = args.*arrays[i].view;
    std::vector<uint8_t> now(before[i].size());
    all = served("buffer_read",
                 api.buffer_read(engine.handle(), view.buffer, 0, now.data(), now.size()));
    if (!all.holds()) return all;
    Contents contents = taken_apart(now, view, arrays[i].extents);
    all = same_bytes(std::string("what lies between elements of ") + arrays[i].name,
                     contents.between, taken_apart(before[i], view, arrays[i].extents).between);
    after[arrays[i].name] = std::move(contents.elements);
  }
  return all;
}

Verdict in_each_layout(gdn_state_writes writes, const Case& c, const Lab& lab) {
  Verdict all;
  std::map<std::string, std::vector<uint8_t>> packed;
  for (const auto& [layout, name] : {std::pair{Layout::packed, "packed"},
                                     {Layout::rows_of_wider_rows, "rows of wider rows"},
                                     {Layout::second_index_first, "second index first"},
                                     {Layout::elements_apart, "elements apart"}}) {
    Verdict opened;
    const std::optional<Engine> engine =
        Engine::open(lab.source(), c.shape, default_options(), &opened);
    if (!engine) return opened;
    std::map<std::string, std::vector<uint8_t>> after;
    Verdict one = run_laid_out(layout, writes, c, *engine, after);
    if (layout == Layout::packed) {
      if (!one.holds()) return one;
      packed = std::move(after);
      continue;
    }
    for (const auto& [array, elements] : packed) {
      if (!one.holds()) break;
      one = both(std::move(one), same_bytes(array + " with " + name, after.at(array), elements));
    }
    // What is served packed and refused as wrong in another layout: that is an answer, and wrong.
    if (one.outcome == Outcome::engine_error) one = claim(false, one.detail);
    // An engine may serve packed arrays alone.
    all = both_served(std::move(all), std::move(one));
  }
  return all;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = batch_case(given, slots, tokens);
  Verdict all;
  for (const gdn_state_writes writes : {GDN_WRITE_FINAL, GDN_WRITE_EVERY_TOKEN, GDN_WRITE_LAST}) {
    all = both_served(std::move(all), in_each_layout(writes, c, lab));
  }
  return all;
}

const Registered self{{.claim = "arrays may lie as any strides say",
                       .applies = applies,
                       .check = check,
                       .kills = {"rows_of_q_taken_as_packed", "slot_indices_taken_as_packed"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
