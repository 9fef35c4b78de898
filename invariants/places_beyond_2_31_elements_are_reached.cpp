// Claim:   recurrent reads and writes elements that lie 2^31 elements into their buffer as it does
//          those of a small one.
// Why:     a pool of a few thousand states is as large, and what is refused or served by its
//          strides alone shows no element's address.
// Bound:   none: equal bytes of inputs, o and state. An engine that cannot hold so much is not
//          asked: no byte in front of the elements is touched, so that memory which is granted
//          when it is written costs nothing.
// Origin:  an element's place that was kept in 32 bits.
#include <bit>
#include <cstring>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t far_away = int64_t{1} << 31;
constexpr int64_t tokens = 2;

// AddressSanitizer keeps books of every byte that is granted, and a fuzzer takes one large
// allocation for a fault.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool grants_unwritten_memory = false;
#elif defined(__has_feature)
constexpr bool grants_unwritten_memory = !__has_feature(address_sanitizer);
#else
constexpr bool grants_unwritten_memory = true;
#endif

bool applies(const Case& c) {
  return grants_unwritten_memory && c.subject == Subject::recurrent && c.tokens >= 1;
}

// All arrays in bf16, one after the other behind `front` elements that nobody touches.
struct Arrays {
  gdn_recurrent_args args = {};
  int64_t count = 0;

  gdn_view put(gdn_buffer buffer, int64_t front, std::initializer_list<int64_t> extents) {
    gdn_view view = {.buffer = buffer, .format = GDN_BF16, .offset = front + count, .stride = {}};
    int64_t stride = 1;
    for (size_t i = extents.size(); i-- > 0; stride *= extents.begin()[i]) view.stride[i] = stride;
    count += stride;
    return view;
  }
};

Arrays arrays_of(const Case& c, gdn_buffer buffer, int64_t front) {
  const Shape& s = c.shape;
  Arrays all;
  gdn_recurrent_args& a = all.args;
  a.struct_size = sizeof a;
  a.num_sequences = 1;
  a.num_tokens = tokens;
  a.num_k_heads = s.num_k_heads;
  a.head_k_dim = s.head_k_dim;
  a.num_v_heads = s.num_v_heads;
  a.head_v_dim = s.head_v_dim;
  a.num_slots = 1;
  const bool vk = c.dialect.state_layout == Dialect::StateLayout::vk;
  a.state_is_vk = vk;
  a.q = all.put(buffer, front, {tokens, s.num_k_heads, s.head_k_dim});
  a.k = all.put(buffer, front, {tokens, s.num_k_heads, s.head_k_dim});
  a.v = all.put(buffer, front, {tokens, s.num_v_heads, s.head_v_dim});
  a.beta = all.put(buffer, front, {tokens, s.num_v_heads});
  a.o = all.put(buffer, front, {tokens, s.num_v_heads, s.head_v_dim});
  a.state = all.put(
      buffer, front,
      {1, s.num_v_heads, vk ? s.head_v_dim : s.head_k_dim, vk ? s.head_k_dim : s.head_v_dim});
  return all;
}

// Multiples of 1/8 between -1 and 1, which bf16 holds exactly.
std::vector<uint8_t> drawn_numbers(const Case& c, int64_t count) {
  Rng rng = Rng{c.seed}.stream("places_beyond_2_31_elements");
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(rng.range(-8, 8)) / 8);
    bytes.push_back(static_cast<uint8_t>(bits >> 16));
    bytes.push_back(static_cast<uint8_t>(bits >> 24));
  }
  return bytes;
}

// Everything behind the front after the call.
Verdict run_behind(const Engine& engine, const Case& c, int64_t front,
                   std::vector<uint8_t>& after) {
  const gdn_api& api = engine.api();
  const uint64_t at = 2 * static_cast<uint64_t>(front);
  const uint64_t room = 2 * static_cast<uint64_t>(arrays_of(c, 0, 0).count);
  gdn_buffer buffer = 0;
  const auto unless_served = [&](const char* call, gdn_status status) {
    const std::string what = std::string(call) + ": " + std::string(name_of(status)) + ": ";
    return status == GDN_OK ? claim(true, "") : refusal(status, what + engine.last_error());
  };
  const gdn_status created = api.buffer_create(engine.handle(), at + room, &buffer);
  if (created == GDN_OUT_OF_MEMORY && front > 0) return {};
  Verdict all = unless_served("buffer_create", created);
  if (!all.holds()) return all;
  const Arrays arrays = arrays_of(c, buffer, front);
  const std::vector<uint8_t> numbers = drawn_numbers(c, arrays.count);
  after.resize(room);
  all = unless_served("buffer_write",
                      api.buffer_write(engine.handle(), buffer, at, numbers.data(), room));
  if (all.holds()) all = unless_served("recurrent", api.recurrent(engine.handle(), &arrays.args));
  if (all.holds()) {
    all = unless_served("buffer_read",
                        api.buffer_read(engine.handle(), buffer, at, after.data(), room));
  }
  return both(std::move(all),
              unless_served("buffer_release", api.buffer_release(engine.handle(), buffer)));
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict opened;
  const std::optional<Engine> engine =
      Engine::open(lab.source(), c.shape, default_options(), &opened);
  if (!engine) return opened;
  std::vector<uint8_t> near, far;
  const Verdict served = run_behind(*engine, c, 0, near);
  if (!served.holds()) return served;
  const Verdict reached = run_behind(*engine, c, far_away, far);
  // What is served in a small buffer is refused in a large one: that is an answer, and wrong.
  if (reached.outcome == Outcome::engine_error) return claim(false, reached.detail);
  if (!reached.holds()) return reached;
  return same_bytes("behind 2^31 elements", far, near);
}

const Registered self{{.claim = "places beyond 2^31 elements are reached",
                       .applies = applies,
                       .check = check,
                       .kills = {"offset_of_q_in_32_bits"},
                       .one_in = 64}};

}  // namespace
}  // namespace gdn
