// Changes of a sequence of calls. What could never be valid afterwards is mended, so that nearly
// every change is judged.
#include <algorithm>
#include <limits>

#include "fuzz/mutate.h"
#include "invariants/harness/draw_calls.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using Calls = std::vector<Call>;

size_t calls_kept_max = 16;
constexpr int64_t telling_values[] = {-1000, -2, -1, 0,  1,  2,  3,  4,   7,
                                      8,     15, 16, 20, 31, 32, 64, 1000};

size_t place_in(const Calls& calls, Rng& rng) {
  return static_cast<size_t>(rng.range(0, static_cast<int64_t>(calls.size()) - 1));
}
Calls::iterator at(Calls& calls, size_t index) {
  return calls.begin() + static_cast<std::ptrdiff_t>(index);
}
bool feeds(const Call& call) {
  return call.kind == K::step || call.kind == K::run || call.kind == K::forward;
}
int64_t any_layer(const Case& c, Rng& rng) { return rng.range(0, c.shape.num_layers - 1); }

// Anywhere: the model says what may follow there.
void insert_drawn(Case& c, Rng& rng) {
  const auto index = static_cast<size_t>(rng.range(0, static_cast<int64_t>(c.calls.size())));
  LifeModel model(c);
  for (size_t i = 0; i < index; ++i) model.next(c.calls[i]);
  Call call = draw_call(rng, c, model);
  c.calls.insert(at(c.calls, index), std::move(call));
}

void erase_some(Case& c, Rng& rng) {
  const size_t begin = place_in(c.calls, rng);
  const auto left = static_cast<int64_t>(c.calls.size() - begin);
  const auto count = rng.range(0, 2) > 0 ? 1 : rng.range(1, left);
  c.calls.erase(at(c.calls, begin), at(c.calls, begin + static_cast<size_t>(count)));
}

// A run of calls once more, there or elsewhere.
void repeat_some(Case& c, Rng& rng) {
  const size_t begin = place_in(c.calls, rng);
  const auto left = static_cast<int64_t>(c.calls.size() - begin);
  const auto end = begin + static_cast<size_t>(rng.range(1, std::min<int64_t>(6, left)));
  const Calls some(at(c.calls, begin), at(c.calls, end));
  const size_t to = rng.range(0, 1) == 0 ? end : place_in(c.calls, rng);
  c.calls.insert(at(c.calls, to), some.begin(), some.end());
}

void swap_two(Case& c, Rng& rng) {
  std::swap(c.calls[place_in(c.calls, rng)], c.calls[place_in(c.calls, rng)]);
}

// From one call on, what was one layer's is another's.
void swap_layers(Case& c, Rng& rng) {
  const int64_t one = any_layer(c, rng);
  const int64_t other = any_layer(c, rng);
  for (size_t i = place_in(c.calls, rng); i < c.calls.size(); ++i) {
    Call& call = c.calls[i];
    if (!takes(call.kind, A::layer)) continue;
    if (call.at(A::layer) == one) {
      call.given[A::layer] = other;
    } else if (call.at(A::layer) == other) {
      call.given[A::layer] = one;
    }
  }
}

// The name of another call's snapshot, export, buffer or out.
void take_other_name(Case& c, Rng& rng) {
  Call& call = c.calls[place_in(c.calls, rng)];
  const Call& other = c.calls[place_in(c.calls, rng)];
  if (takes(call.kind, A::id)) call.given[A::id] = other.at(A::id);
  if (takes(call.kind, A::buffer)) call.given[A::buffer] = other.at(A::buffer);
  if (!takes(call.kind, A::h_id)) return;
  if (takes(other.kind, A::out_id)) call.given[A::h_id] = std::max<int64_t>(0, other.at(A::out_id));
  if (rng.range(0, 1) == 0) call.given[A::out_id] = rng.range(0, 2);
}

// The matrix or the key of another layer, or of another matrix.
void take_other_key(Case& c, Rng& rng) {
  for (Call& call : c.calls) {
    if (rng.range(0, 2) > 0) continue;
    const int64_t key = LifeModel::own_key(any_layer(c, rng), rng.range(0, 2));
    if (takes(call.kind, A::key)) call.given[A::key] = key;
    if (call.kind == K::pool_put) call.given[A::weights] = any_layer(c, rng);
    if (call.kind == K::load_layer_f32) call.given[A::weights] = any_layer(c, rng);
    constexpr A keys[] = {A::key_qkv, A::key_z, A::key_out};
    if (call.kind == K::bind_q4) call.given[one_of(rng, keys)] = key;
  }
}

// The pool anew, the bindings of before gone, just before a token.
void renew_pool(Case& c, Rng& rng) {
  for (size_t i = 0; i < c.calls.size(); ++i) {
    if (!feeds(c.calls[i]) || rng.range(0, 1) == 0) continue;
    Calls anew = {call_of(rng.range(0, 1) == 0 ? K::pool_init : K::pool_clear, {})};
    for (const Call& call : c.calls) {
      if (call.kind == K::pool_put && rng.range(0, 1) == 0) anew.push_back(call);
    }
    c.calls.insert(at(c.calls, i), anew.begin(), anew.end());
    return;
  }
}

// A state taken before a call, and gone back to after it or later.
void go_back(Case& c, Rng& rng) {
  const int64_t id = rng.range(0, 3);
  const int64_t layer = rng.range(-1, c.shape.num_layers - 1);
  const bool exports = rng.range(0, 2) == 0;
  const size_t before = place_in(c.calls, rng);
  const auto last = static_cast<int64_t>(c.calls.size());
  const auto after = static_cast<size_t>(rng.range(static_cast<int64_t>(before) + 1, last));
  const int64_t to = any_layer(c, rng);
  Call back = exports ? call_of(K::state_import, {{A::layer, to}, {A::id, id}})
                      : call_of(K::rollback, {{A::id, id}});
  Call taken = call_of(exports ? K::state_export : K::snapshot,
                       {{A::layer, exports ? any_layer(c, rng) : layer}, {A::id, id}});
  c.calls.insert(at(c.calls, after), std::move(back));
  c.calls.insert(at(c.calls, before), std::move(taken));
}

// One too many, one too few, none, or no room at all.
void change_size(Case& c, Rng& rng) {
  Call& call = c.calls[place_in(c.calls, rng)];
  const LifeModel model(c);
  if (takes(call.kind, A::tokens)) call.given[A::tokens] = rng.range(-1, c.tokens);
  int64_t needed = model.exported_bytes();
  if (call.kind == K::pool_get) needed = model.own_matrix(0, call.at(A::matrix)).bytes();
  if (call.kind == K::read) {
    call.given[A::tensor] = rng.range(0, tensor_count - 1);
    needed = element_count(static_cast<Tensor>(call.at(A::tensor)), c.shape);
  }
  const int64_t sizes[] = {-2, -1, 0, needed - 1, needed, needed + 1};
  const int64_t size = one_of(rng, sizes);
  if (takes(call.kind, A::capacity)) call.given[A::capacity] = std::max<int64_t>(-2, size);
  if (takes(call.kind, A::bytes)) call.given[A::bytes] = std::max<int64_t>(-1, size);
}

void change_argument(Case& c, Rng& rng) {
  Call& call = c.calls[place_in(c.calls, rng)];
  const auto argument = static_cast<Argument>(rng.range(0, argument_count - 1));
  if (!takes(call.kind, argument)) return;
  const ArgumentRule& rule = rule_of(argument);
  const int64_t now = call.at(argument);
  const int64_t near = now + rng.range(-1, 1) * (now < std::numeric_limits<int64_t>::max() / 2);
  const int64_t value = rng.range(0, 1) == 0 ? near : one_of(rng, telling_values);
  call.given[argument] = std::clamp(value, rule.low, rule.high);
}

void change_pointer(Case& c, Rng& rng) {
  static constexpr std::string_view names[] = {"h",     "out", "norm", "qkv",
                                               "tiles", "src", "dst",  "id"};
  Call& call = c.calls[place_in(c.calls, rng)];
  const std::string name(one_of(rng, names));
  if (call.omit.erase(name) == 0) call.omit.insert(name);
}

void change_reads(Case& c, Rng& rng) {
  Call& call = c.calls[place_in(c.calls, rng)];
  const auto tensor = static_cast<Tensor>(rng.range(0, tensor_count - 1));
  if (call.reads.erase(tensor) == 0) call.reads.insert(tensor);
}

constexpr Change changes[] = {insert_drawn,    insert_drawn,    insert_drawn,   insert_drawn,
                              erase_some,      erase_some,      repeat_some,    swap_two,
                              swap_layers,     take_other_name, take_other_key, renew_pool,
                              go_back,         go_back,         change_size,    change_argument,
                              change_argument, change_pointer,  change_reads};

// Tokens that the stream has, and an h that an earlier call gave.
void mend(Case& c) {
  StreamPositions positions;
  std::map<int64_t, int64_t> outs;
  for (Call& call : c.calls) {
    if (takes(call.kind, A::tokens) && call.at(A::tokens) > c.tokens) {
      call.given[A::tokens] = c.tokens;
    }
    const bool streams = takes(call.kind, A::first_token);
    const int64_t tokens = call.kind == K::step ? 1 : std::max<int64_t>(0, call.at(A::tokens));
    const auto out = outs.find(call.at(A::h_id));
    if (streams && (out == outs.end() || out->second != tokens)) call.given.erase(A::h_id);
    StreamPositions before = positions;
    if (streams && call.at(A::h_id) < 0 && before.first_of(call) + tokens > c.tokens) {
      call.given[A::first_token] = std::max<int64_t>(0, c.tokens - tokens);
    }
    positions.first_of(call);
    if (takes(call.kind, A::out_id)) outs[call.at(A::out_id)] = tokens;
    if (call.at(A::weights) >= c.shape.num_layers) call.given.erase(A::weights);
  }
}

}  // namespace

size_t calls_kept() { return calls_kept_max; }
void keep_calls(size_t count_max) { calls_kept_max = count_max; }

void change_calls(Case& c, Rng& rng) {
  // An earlier change may have left a shape that is none.
  if (c.subject != Subject::layer || c.tokens < 0 || !why_invalid(c.shape).empty()) return;
  if (c.calls.empty()) c.calls = setup_calls(c);
  one_of(rng, changes)(c, rng);
  while (c.calls.size() > calls_kept()) c.calls.erase(at(c.calls, place_in(c.calls, rng)));
  mend(c);
  if (c.calls.empty()) c.calls = setup_calls(c);
}

}  // namespace gdn
