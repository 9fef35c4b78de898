// Calls that must be refused, among right ones that show what they leave behind.
#include <algorithm>

#include "ci/triage/call_stories.h"
#include "invariants/harness/made_calls.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

Story story_of(const char* name, const Case& c) {
  Story story;
  story.name = name;
  story.bare = c;
  return story;
}

// No key of a case is called this.
constexpr int64_t nobody = 999'983;

std::vector<WrongCall> wrong_bindings(const Case& c) {
  std::vector<WrongCall> wrong;
  const Shape& s = c.shape;
  const int64_t rows[] = {s.conv_dim(), s.v_dim(), s.hidden_size};
  const int64_t cols[] = {s.hidden_size, s.hidden_size, s.v_dim()};
  constexpr A keys[] = {A::key_qkv, A::key_z, A::key_out};
  for (int64_t due = 0; due < 3; ++due) {
    // The keys of layer 1, one of them that nobody put.
    Call bind = call_of(K::bind_q4, {{A::key_qkv, 4}, {A::key_z, 5}, {A::key_out, 6}});
    bind.given[keys[due]] = nobody;
    wrong.push_back({bind, GDN_NOT_FOUND, "an absent key"});
    for (int64_t other = 0; other < 3; ++other) {
      if (rows[due] == rows[other] && cols[due] == cols[other]) continue;
      wrong.push_back({call_of(K::bind_q4, {{keys[due], 1 + other}}), GDN_INVALID_ARGUMENT,
                       "a matrix of another shape"});
    }
  }
  return wrong;
}

std::vector<WrongCall> wrong_pool_keys(const Case& c) {
  std::vector<WrongCall> wrong;
  for (const int64_t key : {int64_t{0}, 1 + 3 * c.shape.num_layers, 1 + (int64_t{1} << 24),
                            1 + (int64_t{1} << 32), 2 + (int64_t{1} << 40)}) {
    wrong.push_back(
        {call_of(K::pool_get, {{A::key, key}}), GDN_NOT_FOUND, "key " + std::to_string(key)});
  }
  return wrong;
}

// Does what a layer computes with depend on this kind of call?
bool is_about_weights(K kind) {
  return kind == K::load_layer_f32 || kind == K::bind_q4 || kind == K::pool_init ||
         kind == K::pool_put || kind == K::unload_layer;
}

}  // namespace

Story refused_calls(const Case& c, const Lab& lab) {
  Story story = story_of("refused calls", c);
  std::vector<WrongCall> wrong = wrong_calls(c, lab);
  if (c.weights == Weights::q4) {
    for (auto& more : {wrong_bindings(c), wrong_pool_keys(c)}) {
      wrong.insert(wrong.end(), more.begin(), more.end());
    }
  }
  wrong.push_back({call_of(K::load_layer_f32, {{A::weights, 1}}), GDN_ALREADY_LOADED,
                   "other weights for a layer that is loaded", true});
  story.add(calls_before_wrong_ones(c, lab));
  story.add(steps_of_all_layers(c, 0));
  int about_weights = 0;
  for (const WrongCall& call : wrong) {
    if (!is_served(c, lab, call.call)) continue;
    story.calls.push_back(call);
    if (!is_about_weights(call.call.kind)) continue;
    story.add(steps_of_all_layers(c, c.tokens - 1));
    // A history that goes on and on costs more to replay than one that begins anew.
    constexpr int steps_max = 8;
    if (++about_weights % steps_max == 0) story.add({made::reset(-1)});
  }
  story.add(pool_reads(c));
  story.add(steps_of_all_layers(c, 0));
  return story;
}

// A layer that is not loaded, and one below one that is.
Story refused_loads(const Case& c, const Lab&) {
  Story story = story_of("layers without weights", c);
  const auto refuse = [&](Call call, gdn_status status, std::string what) {
    story.calls.push_back({std::move(call), status, std::move(what)});
  };
  const bool has_large = c.weights == Weights::f32;
  for (const char* small : {"b", "a", "conv", "A_log", "dt_bias", "norm"}) {
    Call load = call_of(K::load_layer_f32, {}, {small});
    if (!has_large) load.omit.insert({"qkv", "z", "out"});
    refuse(std::move(load), GDN_INVALID_ARGUMENT, std::string("no ") + small);
  }
  for (const char* large : {"qkv", "z", "out"}) {
    if (!has_large) break;
    refuse(call_of(K::load_layer_f32, {}, {large}), GDN_INVALID_ARGUMENT,
           std::string("no ") + large);
  }
  refuse(made::step(0, 0), GDN_NOT_LOADED, "a layer that is not loaded");
  refuse(made::run(0, 0, 1), GDN_NOT_LOADED, "a layer that is not loaded");
  for (const Call& call : setup_calls(c)) {
    const bool of_another = takes(call.kind, A::layer) && call.at(A::layer) != 0;
    if (!of_another) story.add({call});
  }
  story.add({made::step(0, 0)});
  refuse(made::forward(0, 1), GDN_NOT_LOADED, "a layer that is not loaded");
  refuse(made::step(1, 0), GDN_NOT_LOADED, "a layer that is not loaded");
  story.add({made::step(0, 0)});
  return story;
}

Story refused_in_a_roomy_pool(const Case& c, const Lab& lab) {
  Story story = story_of("a pool with room", c);
  constexpr int64_t room_bytes = 1 << 16;
  const int64_t block = q4_block_weights;
  const auto put = [&](int64_t key, int64_t rows, int64_t cols) {
    return call_of(K::pool_put, {{A::key, key}, {A::rows, rows}, {A::cols, cols}});
  };
  story.add({call_of(K::pool_init, {{A::bytes, room_bytes}}), put(1, q4_tile_rows, block)});
  const WrongCall wrong[] = {
      {put(2, 3, block), GDN_INVALID_ARGUMENT, "3 rows"},
      {put(2, 6, block), GDN_INVALID_ARGUMENT, "6 rows"},
      {put(2, q4_tile_rows, block + 1), GDN_INVALID_ARGUMENT, "33 columns"},
      {put(2, 0, block), GDN_INVALID_ARGUMENT, "no rows"},
      {put(1, q4_tile_rows, block), GDN_ALREADY_LOADED, "a key that is there"},
      {put(1, 2 * q4_tile_rows, block), GDN_ALREADY_LOADED, "a key that is there"}};
  story.calls.insert(story.calls.end(), std::begin(wrong), std::end(wrong));
  for (const int64_t rows : {5, 6, 7}) {
    const Call decode = call_of(K::dequant, {{A::rows, rows}, {A::cols, block}});
    story.calls.push_back({decode, GDN_INVALID_ARGUMENT, std::to_string(rows) + " rows"});
  }
  story.add({call_of(K::pool_get, {{A::key, 1}}),
             call_of(K::pool_init, {{A::bytes, q4_tile_bytes}}), put(1, q4_tile_rows, block)});
  story.calls.push_back({put(2, q4_tile_rows, block), GDN_OUT_OF_MEMORY, "a tile too many"});
  std::erase_if(story.calls, [&](const WrongCall& w) { return !is_served(c, lab, w.call); });
  return story;
}

Story refused_beside_both_weights(const Case& given, const Lab&) {
  Case c = given;
  c.weights = Weights::f32;
  Story story = story_of("float32 projections and a binding", c);
  if (!fits_tiles(c.shape)) return story;
  const Shape& s = c.shape;
  const int64_t bytes = q4_bytes(s.conv_dim(), s.hidden_size) + q4_bytes(s.v_dim(), s.hidden_size) +
                        q4_bytes(s.hidden_size, s.v_dim());
  const Call bind = call_of(K::bind_q4, {{A::key_qkv, 1}, {A::key_z, 2}, {A::key_out, 3}});
  Call bare_load = call_of(K::load_layer_f32, {{A::layer, 1}, {A::weights, 0}});
  bare_load.omit = {"qkv", "z", "out"};
  story.add({call_of(K::load_layer_f32), bare_load, call_of(K::pool_init, {{A::bytes, bytes}})});
  for (int64_t matrix = 0; matrix < 3; ++matrix) {
    story.add({call_of(K::pool_put, {{A::matrix, matrix}, {A::key, 1 + matrix}})});
  }
  Call bind_other = bind;
  bind_other.given[A::layer] = 1;
  story.add({made::step(0, 0), bind_other, made::step(1, 0)});
  story.calls.push_back({bind, GDN_OK, "keys beside float32 projections", true});
  story.add({made::step(0, 0)});
  for (int64_t layer = 0; layer < 2; ++layer) {
    story.calls.push_back({call_of(K::load_layer_f32, {{A::layer, layer}, {A::weights, 1 - layer}}),
                           GDN_ALREADY_LOADED, "a layer that has weights", true});
    story.add({made::step(layer, 0)});
  }
  return story;
}

// A state of its own with one thing changed in the header: "GDNS", a version, six dimensions.
Story foreign_states(const Case& c, const Lab& lab) {
  Story story = story_of("states of another shape", c);
  std::vector<Call> before = setup_calls(c);
  made::append(before, steps_of_all_layers(c, 0));
  std::vector<Call> first = before;
  first.push_back(call_of(K::state_export));
  const Observation exported = lab.run(c.with_calls(first));
  const auto state = exported.exports.find(0);
  constexpr size_t header_bytes = 4 + 4 + 6 * 8;
  if (state == exported.exports.end() || state->second.size() < header_bytes) return story;
  story.add(before);
  int64_t id = 100;
  for (const size_t byte : {0, 4, 8, 16, 24, 32, 40, 48}) {
    std::vector<uint8_t> changed = state->second;
    changed[byte] ^= 1;
    story.setting.options.exports[++id] = std::move(changed);
    story.calls.push_back({call_of(K::state_import, {{A::layer, 1}, {A::id, id}}),
                           GDN_INVALID_ARGUMENT, "another header"});
  }
  story.add(steps_of_all_layers(c, 0));
  return story;
}

Story without_observe(const Case& c, const Lab&) {
  Story story = story_of("without observe", c);
  story.setting.words = "without observe";
  story.setting.options.observe = false;
  story.add(setup_calls(c));
  story.add({made::step(0, 0), made::run(1, 0, 1)});
  for (int64_t tensor = 0; tensor < static_cast<int64_t>(Tensor::S); ++tensor) {
    story.calls.push_back(
        {call_of(K::read, {{A::tensor, tensor}}), GDN_UNSUPPORTED, "a tensor that was not stored"});
  }
  return story;
}

}  // namespace gdn
