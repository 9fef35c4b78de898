// Right calls in many orders: feeding, moving states, snapshots, pools, buffers, memory.
#include "ci/triage/call_stories.h"

#include <algorithm>

#include "invariants/harness/made_calls.h"

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

int64_t some_tokens(const Case& c, int64_t most) { return std::min(c.tokens, most); }

Story fed_in_many_ways(const Case& c, const Lab&) {
  Story story = story_of("feeding", c);
  story.add(setup_calls(c));
  for (int64_t layer = 0; layer < 2; ++layer) {
    story.add({made::step(layer, 0), made::run(layer, 0, 0)});
  }
  const int64_t most = some_tokens(c, 3);
  for (int64_t layer = 0; layer < 2; ++layer) {
    story.add({made::run(layer, c.tokens - 1, 1), made::run(layer, c.tokens - most, most),
               made::run(layer, 0, 1)});
  }
  story.add({made::step(0, c.tokens - 1), made::step(1, c.tokens - 1),
             made::forward(0, some_tokens(c, 2)), made::step(0, 0), made::step(1, 0)});
  return story;
}

// The chunk of a kernel has 64 tokens: two of them, and one token of a third.
Story fed_at_once(const Case& c, const Lab&) {
  Story story = story_of("one long run", c);
  constexpr int64_t tokens_max = 129;
  story.add(setup_calls(c));
  story.add({made::run(0, 0, some_tokens(c, tokens_max)), made::step(0, 0)});
  return story;
}

Story states_moved(const Case& c, const Lab&) {
  Story story = story_of("states moved", c);
  story.add(setup_calls(c));
  story.add(steps_of_all_layers(c, 0));
  story.add({made::state_export(0, 0), made::step(0, c.tokens - 1), made::state_import(1, 0)});
  story.add({made::reset(0)});
  story.add(steps_of_all_layers(c, c.tokens - 1));
  story.add({made::reset(-1)});
  const Call out = call_of(K::read, {{A::tensor, static_cast<int64_t>(Tensor::OUT)}});
  story.calls.push_back({out, GDN_NO_TOKEN, "no token since the reset"});
  story.add(steps_of_all_layers(c, 0));
  story.add({made::call(K::unload_layer, {{A::layer, 1}})});
  story.add(made::load_again(c, 1));
  story.add(steps_of_all_layers(c, 0));
  return story;
}

Story states_moved_in_poisoned_memory(const Case& c, const Lab& lab) {
  Story story = lab.can_fill() ? states_moved(c, lab) : Story{};
  story.setting.words = "with fresh memory filled with 1e30";
  story.setting.options.fill = 0x7149F2CAU;
  return story;
}

Story rolled_back(const Case& c, const Lab&) {
  Story story = story_of("snapshots", c);
  story.add(setup_calls(c));
  story.add(steps_of_all_layers(c, 0));
  story.add({made::snapshot(0, 0)});
  story.add(steps_of_all_layers(c, c.tokens - 1));
  story.add({made::snapshot(0, 1), made::snapshot(-1, 2)});
  story.add(steps_of_all_layers(c, 0));
  story.add({made::rollback(0, 0)});
  story.calls.push_back({made::rollback(0, 1), GDN_NOT_FOUND, "a later snapshot"});
  story.add({made::step(0, 0), made::step(0, 0), made::snapshot(0, 3), made::step(0, 0)});
  story.calls.push_back({made::rollback(0, 1), GDN_NOT_FOUND, "a later snapshot"});
  story.add({made::rollback(0, 3), made::rollback(0, 0), made::snapshot(-1, 4)});
  story.add(steps_of_all_layers(c, 0));
  story.add({made::rollback(0, 4)});
  return story;
}

// What drops a snapshot, and what does not.
Story snapshots_dropped(const Case& c, const Lab&) {
  Story story = story_of("snapshots dropped", c);
  story.add(setup_calls(c));
  story.add(steps_of_all_layers(c, 0));
  story.calls.push_back({made::rollback(0, 99), GDN_NOT_FOUND, "a snapshot never taken"});
  story.add({made::snapshot(0, 0), made::step(0, 0), made::state_export(0, 0)});
  story.add({made::state_import(0, 0)});
  story.calls.push_back({made::rollback(0, 0), GDN_NOT_FOUND, "one from before an import"});
  story.add({made::step(0, 0), made::snapshot(0, 1), made::reset(0)});
  story.calls.push_back({made::rollback(0, 1), GDN_NOT_FOUND, "one from before a reset"});
  story.add({made::step(0, 0), made::snapshot(0, 2), made::step(0, 0)});
  story.add({made::call(K::unload_layer, {{A::layer, 1}})});
  story.add(made::load_again(c, 1));
  story.add({made::rollback(0, 2), made::snapshot(0, 3)});
  story.add({made::call(K::unload_layer, {{A::layer, 0}})});
  story.add(made::load_again(c, 0));
  story.calls.push_back({made::rollback(0, 3), GDN_NOT_FOUND, "one from before an unload"});
  return story;
}

Story more_snapshots_than_are_kept(const Case& c, const Lab&) {
  Story story = story_of("more snapshots than are kept", c);
  story.setting.snapshots_max = 2;
  story.setting.words = "with two snapshots kept";
  story.add(setup_calls(c));
  for (int64_t id = 0; id < 3; ++id) story.add({made::step(0, 0), made::snapshot(0, id)});
  story.add({made::step(0, 0), made::rollback(0, 2), made::rollback(0, 1)});
  story.calls.push_back({made::rollback(0, 0), GDN_NOT_FOUND, "the oldest of three, two are kept"});
  return story;
}

std::vector<Call> puts_of(int64_t weights) {
  std::vector<Call> calls;
  for (int64_t matrix = 0; matrix < 3; ++matrix) {
    calls.push_back(
        call_of(K::pool_put, {{A::weights, weights}, {A::matrix, matrix}, {A::key, 1 + matrix}}));
  }
  return calls;
}

// Other matrices under the keys of layer 0.
Story pool_rebuilt(const Case& c, const Lab&) {
  Story story = story_of("pool rebuilt", c);
  if (c.weights != Weights::q4) return story;
  story.add(setup_calls(c));
  story.add(pool_reads(c));
  story.add(steps_of_all_layers(c, 0));
  for (const K how : {K::pool_init, K::pool_clear}) {
    story.add({call_of(how)});
    const WrongCall gone{call_of(K::pool_get, {{A::key, 1}}), GDN_NOT_FOUND, "a pool made anew"};
    story.calls.push_back(gone);
    story.add(puts_of(1));
    story.calls.push_back({made::step(0, 0), GDN_NOT_LOADED, "a pool made anew"});
    story.add({call_of(K::bind_q4), made::step(0, 0)});
  }
  return story;
}

Story keys_descending(const Case& c, const Lab&) {
  Story story = story_of("descending keys", c);
  if (c.weights != Weights::q4) return story;
  constexpr A keys[] = {A::key_qkv, A::key_z, A::key_out};
  int64_t key = 3 * c.shape.num_layers;
  for (Call& call : setup_calls(c)) {
    if (call.kind == K::pool_put) call.given[A::key] = key--;
    if (call.kind == K::bind_q4) {
      for (int64_t m = 0; m < 3; ++m) call.given[keys[m]] = key + 3 - m;
    }
    story.add({call});
  }
  story.add(steps_of_all_layers(c, 0));
  return story;
}

Story memory_held(const Case& c, const Lab& lab) {
  Story story = story_of("memory", c);
  if (lab.has_gate()) story.add(calls_that_hold_memory(c, lab));
  return story;
}

Story allocations_refused(const Case& c, const Lab& lab) {
  Story story = memory_held(c, lab);
  story.name = "refused allocations";
  story.setting.snapshots_max = 2;
  story.setting.refuses_allocations = true;
  story.setting.words = "with its allocations refused one after the other";
  return story;
}

Story beside_another_handle(const Case& c, const Lab&) {
  Story story = story_of("two handles", c);
  story.setting.words = "with a second handle open, whose calls come in between";
  story.add(setup_calls(c));
  for (int64_t t = 0; t < some_tokens(c, 2); ++t) story.add(steps_of_all_layers(c, t));
  Case other = story.whole();
  // Other numbers, where the case draws them.
  ++other.seed;
  for (Call& call : other.calls) {
    if (call.given.contains(A::first_token)) {
      call.given[A::first_token] = (call.at(A::first_token) + 1) % c.tokens;
    }
  }
  story.setting.beside = std::move(other);
  return story;
}

}  // namespace

Story buffers_written(const Case& c, const Lab&) {
  Story story = story_of("buffers", c);
  const auto on = [](K kind, int64_t buffer, int64_t offset, int64_t bytes) {
    return call_of(kind, {{A::buffer, buffer}, {A::offset, offset}, {A::bytes, bytes}});
  };
  for (int64_t buffer = 0; buffer < 2; ++buffer) {
    story.add({call_of(K::buffer_create, {{A::buffer, buffer}, {A::bytes, 64}}),
               on(K::buffer_write, buffer, 0, 64), on(K::buffer_read, buffer, 0, 64)});
  }
  story.add({on(K::buffer_write, 0, 16, 8), on(K::buffer_read, 0, 0, 64),
             on(K::buffer_read, 0, 16, 48), on(K::buffer_read, 1, 0, 64)});
  story.add({call_of(K::buffer_release, {{A::buffer, 0}})});
  for (const K kind : {K::buffer_read, K::buffer_write}) {
    story.calls.push_back({on(kind, 0, 0, 1), GDN_NOT_FOUND, "a released buffer"});
  }
  story.add({on(K::buffer_read, 1, 0, 64), call_of(K::buffer_release, {{A::buffer, 1}})});
  return story;
}

Story own_story(const Case& c) {
  Story story = story_of("its own calls", c.with_calls({}));
  story.add(c.calls.empty() ? stepped_calls(c) : c.calls);
  story.setting.snapshots_max = static_cast<int>(
      std::count_if(story.calls.begin(), story.calls.end(),
                    [](const WrongCall& asked) { return asked.call.kind == K::snapshot; }));
  return story;
}

const std::vector<StoryMaker>& story_makers() {
  static const std::vector<StoryMaker> makers = {fed_in_many_ways,
                                                 states_moved,
                                                 rolled_back,
                                                 snapshots_dropped,
                                                 more_snapshots_than_are_kept,
                                                 buffers_written,
                                                 pool_rebuilt,
                                                 keys_descending,
                                                 refused_loads,
                                                 refused_in_a_roomy_pool,
                                                 refused_beside_both_weights,
                                                 foreign_states,
                                                 without_observe,
                                                 beside_another_handle,
                                                 memory_held,
                                                 states_moved_in_poisoned_memory,
                                                 refused_calls,
                                                 allocations_refused,
                                                 fed_at_once};
  return makers;
}

}  // namespace gdn
