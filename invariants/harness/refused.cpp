// Wrong calls, and what must follow from them: nothing.
#include "invariants/harness/refused.h"

#include <algorithm>

#include "reference/formats.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

// No snapshot, key or buffer of a case is called this.
constexpr int64_t nobody = 999'983;
// Layer 0, where a number is cut to 32 bits.
constexpr int64_t cut_to_zero = int64_t{1} << 32;
// More bytes, or rows, than any machine has.
constexpr int64_t too_many = int64_t{1} << 60;

std::vector<WrongCall> wrong_layers(const Case& c) {
  const int64_t beyond = c.shape.num_layers;
  std::vector<WrongCall> wrong;
  for (const K kind : {K::load_layer_f32, K::unload_layer, K::step, K::run, K::read,
                       K::state_export, K::state_import, K::reset, K::snapshot, K::bind_q4}) {
    const bool takes_all = kind == K::reset || kind == K::snapshot;
    for (const int64_t layer : {beyond, cut_to_zero, takes_all ? int64_t{-2} : int64_t{-1}}) {
      Call call = call_of(kind, {{A::layer, layer}});
      if (kind == K::step || kind == K::run) call.given[A::first_token] = 0;
      // The keys of layer 0, which are right.
      if (kind == K::bind_q4) call.given.insert({{A::key_qkv, 1}, {A::key_z, 2}, {A::key_out, 3}});
      const bool one_fault = kind != K::bind_q4 || c.weights == Weights::q4;
      wrong.push_back({std::move(call), one_fault ? GDN_INVALID_ARGUMENT : GDN_OK,
                       "layer " + std::to_string(layer)});
    }
  }
  return wrong;
}

std::vector<WrongCall> wrong_feeding(const Case& c) {
  std::vector<WrongCall> wrong;
  if (c.tokens == 0) return wrong;
  for (const K kind : {K::step, K::run, K::forward}) {
    for (const char* name : {"h", "out"}) {
      wrong.push_back({call_of(kind, {{A::first_token, 0}}, {name}), GDN_INVALID_ARGUMENT,
                       std::string("a null ") + name});
    }
    if (kind == K::step) continue;
    wrong.push_back(
        {call_of(kind, {{A::first_token, 0}, {A::tokens, -1}}), GDN_INVALID_ARGUMENT, "T of -1"});
  }
  return wrong;
}

// The header of an exported state has 56 bytes: see state_export in device/gdn.h.
std::vector<WrongCall> wrong_states(const Case& c) {
  const int64_t state = c.shape.state_count();
  const int64_t bytes = 56 + 4 * (state + c.shape.history_count());
  return {
      {call_of(K::read, {{A::tensor, tensor_count}}), GDN_INVALID_ARGUMENT, "a tensor too many"},
      {call_of(K::read, {{A::tensor, -1}}), GDN_INVALID_ARGUMENT, "tensor -1"},
      {call_of(K::read, {{A::capacity, state - 1}}), GDN_TOO_SMALL, "capacity one short of S"},
      {call_of(K::state_export, {{A::id, 1}, {A::capacity, bytes - 1}}), GDN_TOO_SMALL,
       "capacity one byte short"},
      {call_of(K::state_import, {{A::bytes, bytes - 1}}), GDN_INVALID_ARGUMENT, "one byte short"},
      {call_of(K::state_import, {{A::bytes, bytes + 4}}), GDN_INVALID_ARGUMENT,
       "a number too many"},
      {call_of(K::state_import, {}, {"src"}), GDN_INVALID_ARGUMENT, "a null src"},
      {call_of(K::snapshot, {}, {"id"}), GDN_INVALID_ARGUMENT, "a null id"},
      {call_of(K::rollback, {{A::id, nobody}}), GDN_NOT_FOUND, "a snapshot that was never taken"},
      {call_of(K::load_layer_f32), GDN_ALREADY_LOADED, "a layer that is loaded"},
      {call_of(K::load_layer_f32, {}, {"norm"}), GDN_OK, "a null norm"},
  };
}

// The pool is full, or there is none: a put that is wrong besides is refused for either.
std::vector<WrongCall> wrong_in_the_pool(const Case& c) {
  const int64_t block = q4_block_weights;
  std::vector<WrongCall> wrong = {
      {call_of(K::pool_init, {{A::bytes, too_many}}), GDN_OK, "a pool larger than any memory"},
      {call_of(K::pool_put, {{A::key, nobody}, {A::rows, 3}, {A::cols, block}}), GDN_OK, "3 rows"},
      {call_of(K::pool_put, {{A::key, nobody}, {A::rows, 4}, {A::cols, block + 1}}), GDN_OK,
       "33 columns"},
      {call_of(K::pool_put, {{A::key, nobody}, {A::rows, -4}, {A::cols, block}}), GDN_OK,
       "-4 rows"},
      {call_of(K::pool_put, {{A::key, nobody}, {A::rows, too_many}, {A::cols, too_many}}), GDN_OK,
       "a matrix larger than any memory"},
      {call_of(K::pool_put, {{A::key, nobody}, {A::rows, 4}, {A::cols, block}}, {"tiles"}), GDN_OK,
       "null tiles"},
      {call_of(K::pool_put, {{A::key, nobody}, {A::rows, 4}, {A::cols, block}}), GDN_OK,
       "a tile more than the pool holds"},
      {call_of(K::pool_get, {{A::key, nobody}}), GDN_NOT_FOUND, "a key that is not there"},
      {call_of(K::bind_q4, {{A::key_z, nobody}}), c.weights == Weights::q4 ? GDN_NOT_FOUND : GDN_OK,
       "a key that is not there"},
  };
  if (c.weights != Weights::q4) return wrong;
  const int64_t bytes = q4_bytes(c.shape.conv_dim(), c.shape.hidden_size);
  wrong.push_back(
      {call_of(K::pool_get, {{A::capacity, bytes - 1}}), GDN_TOO_SMALL, "capacity one byte short"});
  return wrong;
}

std::vector<WrongCall> wrong_beside_the_layers() {
  const int64_t bytes = 64;  // of buffer 0
  return {
      {call_of(K::apply, {{A::op, 99}}), GDN_INVALID_ARGUMENT, "an operator that there is not"},
      {call_of(K::apply, {{A::op, 1}, {A::count_off, 1}}), GDN_INVALID_ARGUMENT, "counts one off"},
      {call_of(K::apply, {{A::op, 1}}, {"a"}), GDN_INVALID_ARGUMENT, "a null a"},
      {call_of(K::apply, {{A::op, 1}}, {"beta"}), GDN_INVALID_ARGUMENT, "a null beta"},
      {call_of(K::dequant, {{A::rows, 3}}), GDN_INVALID_ARGUMENT, "3 rows"},
      {call_of(K::dequant, {}, {"out"}), GDN_INVALID_ARGUMENT, "a null out"},
      {call_of(K::dequant, {}, {"tiles"}), GDN_INVALID_ARGUMENT, "null tiles"},
      {call_of(K::buffer_create, {{A::buffer, 1}, {A::bytes, too_many}}), GDN_OK,
       "a buffer larger than any memory"},
      {call_of(K::buffer_write, {{A::bytes, bytes}, {A::offset, 1}}), GDN_INVALID_ARGUMENT,
       "a byte beyond the buffer"},
      {call_of(K::buffer_read, {{A::bytes, bytes}, {A::offset, 1}}), GDN_INVALID_ARGUMENT,
       "a byte beyond the buffer"},
      {call_of(K::buffer_read, {{A::bytes, 4}, {A::offset, too_many}}), GDN_INVALID_ARGUMENT,
       "an offset beyond the buffer"},
      {call_of(K::buffer_write, {{A::buffer, nobody}, {A::bytes, 4}}), GDN_NOT_FOUND,
       "a buffer that there is not"},
      {call_of(K::buffer_read, {{A::buffer, nobody}, {A::bytes, 4}}), GDN_NOT_FOUND,
       "a buffer that there is not"},
      {call_of(K::buffer_release, {{A::buffer, nobody}}), GDN_NOT_FOUND,
       "a buffer that there is not"},
  };
}

}  // namespace

std::vector<Call> state_reads(const Case& c) {
  std::vector<Call> calls;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
      calls.push_back(
          call_of(K::read, {{A::layer, layer}, {A::tensor, static_cast<int64_t>(tensor)}}));
    }
  }
  return calls;
}

std::vector<Call> steps_of_all_layers(const Case& c, int64_t token) {
  std::vector<Call> calls;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    calls.push_back(call_of(K::step, {{A::layer, layer}, {A::first_token, token}}));
    calls.back().reads = {Tensor::OUT, Tensor::S, Tensor::HIST};
  }
  return calls;
}

std::vector<Call> pool_reads(const Case& c) {
  std::vector<Call> calls;
  if (c.weights != Weights::q4) return calls;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    for (int64_t matrix = 0; matrix < 3; ++matrix) {
      calls.push_back(call_of(K::pool_get, {{A::weights, layer}, {A::matrix, matrix}}));
    }
  }
  return calls;
}

Case with_layers(const Case& c, int64_t layers_min) {
  Case more = c.with_calls({});
  more.shape.num_layers = std::max(c.shape.num_layers, layers_min);
  return more;
}

bool fits_tiles(const Shape& shape) {
  return why_not_q4_tile(shape.conv_dim(), shape.hidden_size).empty() &&
         why_not_q4_tile(shape.v_dim(), shape.hidden_size).empty() &&
         why_not_q4_tile(shape.hidden_size, shape.v_dim()).empty();
}

Verdict refused(const CallObserved& seen, const WrongCall& wrong) {
  const std::string where =
      std::string(name_of(wrong.call.kind)) + " with " + wrong.what + ": expected ";
  const std::string got = "got " + std::string(name_of(seen.status));
  if (seen.ok()) return claim(false, where + "a refusal, " + got);
  const bool any = wrong.status == GDN_OK;
  const bool named = any ? is_refusal(seen.status) : seen.status == wrong.status;
  const std::string allocations = std::to_string(seen.allocations);
  const std::string_view wanted = any ? "a refusal" : name_of(wrong.status);
  return both(claim(named, where + std::string(wanted) + ", " + got),
              claim(!wrong.asks_for_nothing || seen.allocations == 0,
                    where + "no allocation, it asked for " + allocations),
              claim(!seen.text.empty(), where + "a reason beside the status, got no words"));
}

Verdict refused_without_trace(const Case& c, const Lab& lab, std::vector<Call> before,
                              const std::vector<WrongCall>& wrong, const std::vector<Call>& after,
                              const RunOptions& options) {
  const std::vector<Call> states =
      c.subject == Subject::layer ? state_reads(c) : std::vector<Call>{};
  std::vector<Call> right = before;
  right.insert(right.end(), states.begin(), states.end());
  right.insert(right.end(), after.begin(), after.end());
  RunOptions unrefused = options;
  unrefused.refuse.reset();
  const Observation undisturbed = lab.run(c.with_calls(right), unrefused);
  if (!undisturbed.served().holds()) return undisturbed.served();

  std::vector<Call> all = right;
  const auto at = static_cast<std::ptrdiff_t>(before.size());
  RunOptions altering = options;
  for (size_t i = 0; i < wrong.size(); ++i) {
    all.insert(all.begin() + at + static_cast<std::ptrdiff_t>(i), wrong[i].call);
    if (wrong[i].altered.is_any()) altering.altered[before.size() + i] = wrong[i].altered;
  }
  Observation seen = lab.run(c.with_calls(all), altering);
  Verdict verdict = seen.conduct;
  if (seen.calls.empty()) return verdict;
  for (size_t i = 0; i < wrong.size(); ++i) {
    verdict = both(std::move(verdict), refused(seen.calls[before.size() + i], wrong[i]));
  }
  seen.calls.erase(seen.calls.begin() + at,
                   seen.calls.begin() + at + static_cast<std::ptrdiff_t>(wrong.size()));
  Verdict same = same_bits(seen, undisturbed);
  if (same.outcome == Outcome::fails) same.detail = "beside a refused call, " + same.detail;
  return both(std::move(verdict), std::move(same));
}

std::vector<WrongCall> wrong_calls(const Case& c, const Lab& lab) {
  std::vector<WrongCall> all;
  for (std::vector<WrongCall>& some :
       std::vector{wrong_layers(c), wrong_feeding(c), wrong_states(c), wrong_in_the_pool(c),
                   wrong_beside_the_layers()}) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::erase_if(all, [&](const WrongCall& wrong) { return !is_served(c, lab, wrong.call); });
  return all;
}

std::vector<Call> calls_before_wrong_ones(const Case& c, const Lab& lab) {
  std::vector<Call> calls = setup_calls(c);
  for (const Call& call : {call_of(K::state_export), call_of(K::buffer_create, {{A::bytes, 64}}),
                           call_of(K::buffer_write, {{A::bytes, 64}})}) {
    if (is_served(c, lab, call)) calls.push_back(call);
  }
  return calls;
}

bool is_served(const Case& c, const Lab& lab, const Call& call) {
  const bool remembers = call.kind == K::snapshot || call.kind == K::rollback;
  if (remembers && !lab.description().options.contains("snapshots")) return false;
  return lab.why_not(c.with_calls({call})).empty();
}

std::vector<Call> calls_that_hold_memory(const Case& c, const Lab& lab) {
  std::vector<Call> calls = setup_calls(c);
  const int64_t last = c.shape.num_layers - 1;
  const int64_t tokens = std::min<int64_t>(c.tokens, 3);
  const Call later[] = {
      call_of(K::step, {{A::first_token, 0}}),
      call_of(K::snapshot, {{A::layer, last}}),
      call_of(K::run, {{A::layer, last}, {A::first_token, 0}, {A::tokens, tokens}}),
      call_of(K::snapshot, {{A::layer, last}, {A::id, 1}}),
      call_of(K::forward, {{A::first_token, 0}, {A::tokens, tokens}}),
      call_of(K::buffer_create, {{A::bytes, 64}}),
      call_of(K::buffer_write, {{A::bytes, 64}}),
      call_of(K::state_export, {{A::layer, last}}),
      call_of(K::unload_layer),
      call_of(K::load_layer_f32, {}, {"qkv", "z", "out"}),
      call_of(K::unload_layer),
      call_of(K::rollback, {{A::id, 0}, {A::read_layer, last}}),
      call_of(K::apply, {{A::op, 1}}),
      call_of(K::dequant),
      call_of(K::buffer_create, {{A::buffer, 1}, {A::bytes, 256}}),
      call_of(K::buffer_release),
      call_of(K::step, {{A::layer, last}, {A::first_token, 0}}),
  };
  const bool unloads = is_served(c, lab, call_of(K::unload_layer));
  for (const Call& call : later) {
    // Only what was unloaded can be loaded again.
    const bool loads_again = call.kind == K::load_layer_f32;
    if (!is_served(c, lab, call) || (loads_again && !unloads)) continue;
    calls.push_back(call);
    const bool feeds = call.kind == K::step || call.kind == K::run || call.kind == K::forward;
    if (feeds || call.kind == K::rollback) calls.back().reads = {Tensor::S, Tensor::HIST};
  }
  return calls;
}

}  // namespace gdn
