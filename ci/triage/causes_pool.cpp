// Causes: the pool of 4-bit matrices, and buffers.
#include <algorithm>

#include "ci/triage/host_cause.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using What = Departure::What;

constexpr int64_t low_half = 0xFFFF'FFFF;

bool is_key_cut(const Scene& s) {
  if (!s.is(What::served) || !s.is(K::pool_get)) return false;
  const int64_t key = s.before.key_of(s.call);
  return key > low_half && s.before.pool().contains(key & low_half) && !s.now.seen.bytes.empty();
}
const RegisteredCause cut{{.name = "pool_keys_of_32_bits",
                           .sentence = "a key finds the matrix of the key that has its lower half",
                           .is_it = is_key_cut}};

bool is_absent_empty(const Scene& s) {
  return s.is(What::served) && s.is(K::pool_get) &&
         !s.before.pool().contains(s.before.key_of(s.call)) && s.now.seen.bytes.empty();
}
const RegisteredCause empty{{.name = "absent_pool_key_is_empty",
                             .sentence = "pool_get of an absent key is served with no bytes",
                             .is_it = is_absent_empty}};

bool put_served(const Scene& s) { return s.is(What::served) && s.is(K::pool_put); }

bool is_off_the_tile(const Scene& s) {
  return (put_served(s) || (s.is(What::served) && s.is(K::dequant))) && s.call.at(A::rows) != -1 &&
         s.call.at(A::rows) % q4_tile_rows != 0;
}
const RegisteredCause rows_put{
    {.name = "odd_tile_rows_accepted",
     .sentence = "a matrix whose rows fill no tile is put",
     .is_it = [](const Scene& s) { return is_off_the_tile(s) && s.is(K::pool_put); }}};
const RegisteredCause rows_decoded{
    {.name = "odd_tile_rows_decoded",
     .sentence = "a matrix whose rows fill no tile is decoded",
     .is_it = [](const Scene& s) { return is_off_the_tile(s) && s.is(K::dequant); }}};

bool is_put_twice(const Scene& s) {
  return put_served(s) && s.before.pool().contains(s.before.key_of(s.call));
}
const RegisteredCause twice{{.name = "second_put_overwrites",
                             .sentence = "a put under a key that is there is served",
                             .is_it = is_put_twice}};

bool is_past_capacity(const Scene& s) {
  return put_served(s) && !is_off_the_tile(s) && !is_put_twice(s) && s.call.omit.empty();
}
const RegisteredCause capacity{{.name = "pool_capacity_off_by_one_tile",
                                .sentence = "the pool takes more than its capacity",
                                .is_it = is_past_capacity}};

bool is_repacked(const Scene& s) {
  if (!s.is(What::numbers) || !s.is(K::pool_get)) return false;
  std::string why;
  const std::optional<Numbers> numbers = materialise(s.trace.story.bare, &why);
  const auto found = s.before.pool().find(s.before.key_of(s.call));
  if (!numbers || found == s.before.pool().end()) return false;
  const LayerNumbers& n = numbers->layers[static_cast<size_t>(found->second.weights)];
  std::vector<uint8_t> put = found->second.matrix == 0
                                 ? n.qkv_tiles
                                 : (found->second.matrix == 1 ? n.z_tiles : n.out_tiles);
  if (put.size() != s.now.seen.bytes.size()) return false;
  // A tile begins with four scales of two bytes; the codes are the same with another offset.
  for (size_t i = 0; i < put.size(); ++i) {
    if (i % q4_tile_bytes >= 2 * q4_tile_rows) put[i] ^= 0x88;
  }
  return put == s.now.seen.bytes;
}
const RegisteredCause repacked{{.name = "pool_get_returns_repacked",
                                .sentence = "pool_get gives the codes with another offset",
                                .is_it = is_repacked}};

// A binding does not find keys that are there; one of them was put after a larger one.
bool is_out_of_order(const Scene& s) {
  if (!s.is(What::not_served) || !s.is(K::bind_q4) || s.now.seen.status != GDN_NOT_FOUND) {
    return false;
  }
  int64_t largest = -1;
  bool descends = false;
  for (size_t i = 0; i < s.at.call; ++i) {
    const CallSeen& c = s.trace.calls[i];
    if (c.asked.call.kind != K::pool_put || !c.seen.ok()) continue;
    const int64_t key = s.before.key_of(c.asked.call);
    descends = descends || key < largest;
    largest = std::max(largest, key);
  }
  return descends;
}
const RegisteredCause order{
    {.name = "pool_keys_sought_as_if_sorted",
     .sentence = "a binding does not find a key that was put after a larger one",
     .is_it = is_out_of_order}};

bool is_pool_gone(const Scene& s) {
  const size_t refused = s.last_refusal();
  const bool missing = s.now.seen.status == GDN_NOT_LOADED || s.now.seen.status == GDN_NOT_FOUND;
  if (!s.is(What::not_served) || !missing || refused == Scene::npos) return false;
  const CallSeen& failed = s.trace.calls[refused];
  return failed.asked.call.kind == K::pool_init && failed.seen.status == GDN_OUT_OF_MEMORY;
}
const RegisteredCause gone{{.name = "failed_pool_init_drops_pool",
                            .sentence = "a pool_init that failed has dropped the old pool",
                            .is_it = is_pool_gone}};

// What the buffer would hold had every write begun at its first byte.
bool is_offset_ignored(const Scene& s) {
  if (!s.is(What::numbers) || !s.is(K::buffer_read)) return false;
  const int64_t buffer = s.call.at(A::buffer);
  std::vector<int> held;
  for (size_t i = 0; i < s.at.call; ++i) {
    const Call& c = s.trace.calls[i].asked.call;
    const bool is_own = s.trace.calls[i].seen.ok() && c.at(A::buffer) == buffer;
    const auto bytes = static_cast<size_t>(std::max<int64_t>(0, c.at(A::bytes)));
    if (is_own && c.kind == K::buffer_create) held.assign(bytes, -1);
    if (!is_own || c.kind != K::buffer_write) continue;
    const std::vector<uint8_t> content = buffer_content(s.trace.story.bare, buffer, bytes);
    std::copy(content.begin(), content.end(), held.begin());
  }
  const auto from = static_cast<size_t>(s.call.at(A::offset));
  for (size_t i = 0; i < s.now.seen.bytes.size(); ++i) {
    const int want = held[from + i];
    // Of bytes that nobody wrote the observation says 0.
    if (want >= 0 && want != s.now.seen.bytes[i]) return false;
  }
  return true;
}
const RegisteredCause offset{{.name = "buffer_write_ignores_offset",
                              .sentence = "the buffer is as if every write began at its first byte",
                              .is_it = is_offset_ignored}};

bool is_released_found(const Scene& s) {
  const size_t released = s.last([&](const CallSeen& c) {
    return c.asked.call.kind == K::buffer_release && c.seen.ok() &&
           c.asked.call.at(A::buffer) == s.call.at(A::buffer);
  });
  return s.is(What::served) && (s.is(K::buffer_read) || s.is(K::buffer_write)) &&
         !s.before.buffers().contains(s.call.at(A::buffer)) && released != Scene::npos;
}
const RegisteredCause released{{.name = "released_buffer_is_found",
                                .sentence = "a buffer that was released is still found",
                                .is_it = is_released_found}};

}  // namespace
}  // namespace gdn
