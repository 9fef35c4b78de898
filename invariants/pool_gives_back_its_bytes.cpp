// Claim:   the pool gives back every byte as it was put, whatever was bound or computed since.
// Why:     tiles are what a checkpoint holds; an engine may repack them for itself alone.
// Bound:   none: equal bytes.
// Origin:  tiles repacked in place for the kernels, which the next export wrote to disk.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) {
  return c.subject == Subject::layer && c.weights == Weights::q4 && c.tokens >= 1;
}

struct Put {
  int64_t layer, matrix, key;
};

// Every matrix, in an order and under keys of the case's own.
std::vector<Put> drawn(const Case& c) {
  Rng rng = Rng{c.seed}.stream("pool order");
  std::vector<Put> puts;
  std::set<int64_t> used;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    for (int64_t matrix = 0; matrix < 3; ++matrix) {
      // Three matrices share two lower halves, so that the upper ones must tell them apart.
      int64_t key = (rng.range(0, int64_t{1} << 29) << 32) + rng.range(0, 1);
      while (!used.insert(key).second) key += int64_t{1} << 32;
      puts.insert(puts.begin() + rng.range(0, static_cast<int64_t>(puts.size())),
                  {layer, matrix, key});
    }
  }
  return puts;
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return {};
  const std::vector<Put> puts = drawn(c);
  std::vector<Call> calls;
  for (const Call& call : setup_calls(c)) {
    if (call.kind == K::load_layer_f32 || call.kind == K::pool_init) calls.push_back(call);
  }
  std::vector<Call> binds(static_cast<size_t>(c.shape.num_layers));
  const A keys[] = {A::key_qkv, A::key_z, A::key_out};
  for (const Put& put : puts) {
    calls.push_back(call_of(K::pool_put,
                            {{A::weights, put.layer}, {A::matrix, put.matrix}, {A::key, put.key}}));
    Call& bind = binds[static_cast<size_t>(put.layer)];
    bind.kind = K::bind_q4;
    bind.given[A::layer] = put.layer;
    bind.given[keys[put.matrix]] = put.key;
  }
  const auto look = [&] {
    for (const Put& put : puts) calls.push_back(call_of(K::pool_get, {{A::key, put.key}}));
  };
  look();
  made::append(calls, binds);
  made::append(calls, steps_of_all_layers(c, 0));
  look();
  const Observation seen = lab.run(c.with_calls(calls));
  for (const CallObserved& call : seen.calls) {
    if (call.status != GDN_ALREADY_LOADED) continue;
    return claim(false, "a key that was not put before: expected to be taken, got " + call.text);
  }
  Verdict all = seen.served();
  if (!all.holds()) return all;
  size_t at = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].kind != K::pool_get) continue;
    const Put& put = puts[at++ % puts.size()];
    const LayerNumbers& n = numbers->layers[static_cast<size_t>(put.layer)];
    const std::vector<uint8_t>* const tiles[] = {&n.qkv_tiles, &n.z_tiles, &n.out_tiles};
    all = both(std::move(all),
               same_bytes("call " + std::to_string(i + 1) + ", key " + std::to_string(put.key),
                          seen.calls[i].bytes, *tiles[put.matrix]));
  }
  return all;
}

const Registered self{{.claim = "the pool gives back every byte as it was put",
                       .applies = applies,
                       .check = check,
                       .kills = {"pool_get_returns_repacked", "pool_keys_of_32_bits"}}};

}  // namespace
}  // namespace gdn
