// Engines in shared libraries that know the C header alone: a partial one works for what it
// serves, one of another version is refused.
#include <cmath>

#include "invariants/harness/engine.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

using testing::bits;
using testing::numbers;

EngineSource plugin(const std::string& name) {
  std::string why;
  const auto source = find_engine(PLUGIN_DIR "/" + name + ".so", &why);
  EXPECT_TRUE(source.has_value()) << why;
  if (!source.has_value()) std::abort();
  return *source;
}

struct Handle {
  explicit Handle(const gdn_api& of_api) : api(of_api) {
    const gdn_shape shape = testing::small_shape();
    const gdn_options options = testing::observing();
    EXPECT_EQ(api.open(&shape, &options, &engine), GDN_OK);
  }
  ~Handle() { api.close(engine); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  gdn_view put(const std::vector<float>& values, std::vector<int64_t> extents) const {
    gdn_view view = {};
    int64_t stride = 1;
    for (size_t d = extents.size(); d-- > 0; stride *= extents[d]) view.stride[d] = stride;
    EXPECT_EQ(api.buffer_create(engine, values.size() * 4, &view.buffer), GDN_OK);
    EXPECT_EQ(api.buffer_write(engine, view.buffer, 0, values.data(), values.size() * 4), GDN_OK);
    return view;
  }
  std::vector<float> fetch(const gdn_view& view, size_t count) const {
    std::vector<float> values(count);
    EXPECT_EQ(api.buffer_read(engine, view.buffer, 0, values.data(), count * 4), GDN_OK);
    return values;
  }

  const gdn_api& api;
  gdn_engine* engine = nullptr;
};

TEST(Plugin, OfAnotherVersionIsRefused) {
  std::string why;
  EXPECT_FALSE(find_engine(PLUGIN_DIR "/wrong_version_plugin.so", &why).has_value());
  EXPECT_NE(why.find("version"), std::string::npos) << why;
}

TEST(Plugin, LeavesOutWhatItDoesNotServe) {
  const EngineSource example = plugin("example_plugin");
  EXPECT_EQ(example.api->step, nullptr);
  EXPECT_NE(example.api->dequant, nullptr);
  EXPECT_EQ(why_inconsistent(example.description, *example.api), "");
}

TEST(Plugin, DecodesTilesAsTheTwinDoes) {
  const Handle example(*plugin("example_plugin").api);
  const Handle twin(testing::api_named("twin"));
  const std::vector<uint8_t> tiles = testing::tiles(3, 8, 96);
  std::vector<float> got(8 * 96), want(8 * 96);
  ASSERT_EQ(example.api.dequant(example.engine, 8, 96, tiles.data(), got.data()), GDN_OK);
  ASSERT_EQ(twin.api.dequant(twin.engine, 8, 96, tiles.data(), want.data()), GDN_OK);
  EXPECT_EQ(bits(got), bits(want));
}

TEST(Plugin, RunsTheRecurrenceAsTheTwinDoes) {
  // Both sum serially with nothing fused, so that the bits are equal.
  const Handle example(*plugin("example_plugin").api);
  const Handle twin(testing::api_named("twin"));
  std::vector<std::vector<uint32_t>> outputs, states;
  for (const Handle* handle : {&example, &twin}) {
    std::vector<float> g = numbers(4, 9 * 4);
    for (float& value : g) value = -std::fabs(value);
    gdn_recurrent_args args = {};
    args.struct_size = sizeof args;
    args.num_sequences = args.num_slots = 1;
    args.num_tokens = 9;
    args.num_k_heads = 2;
    args.head_k_dim = 3;
    args.num_v_heads = 4;
    args.head_v_dim = 5;
    args.q = handle->put(numbers(1, 9 * 6), {9, 2, 3});
    args.k = handle->put(numbers(2, 9 * 6), {9, 2, 3});
    args.v = handle->put(numbers(3, 9 * 20), {9, 4, 5});
    args.g = handle->put(g, {9, 4});
    args.beta = handle->put(numbers(5, 9 * 4), {9, 4});
    args.o = handle->put(std::vector<float>(9 * 20), {9, 4, 5});
    args.state = handle->put(numbers(6, 60), {1, 4, 3, 5});
    ASSERT_EQ(handle->api.recurrent(handle->engine, &args), GDN_OK)
        << handle->api.last_error(handle->engine);
    outputs.push_back(bits(handle->fetch(args.o, 9 * 20)));
    states.push_back(bits(handle->fetch(args.state, 60)));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(states[0], states[1]);
}

TEST(Plugin, SaysWhatItDoesNotServe) {
  const Handle example(*plugin("example_plugin").api);
  gdn_recurrent_args args = {};
  args.struct_size = sizeof args;
  args.num_sequences = args.num_slots = 1;
  args.num_k_heads = args.head_k_dim = args.num_v_heads = args.head_v_dim = 1;
  args.state = example.put({0}, {1, 1, 1, 1});
  ASSERT_EQ(example.api.recurrent(example.engine, &args), GDN_OK);
  args.state_is_vk = 1;
  EXPECT_EQ(example.api.recurrent(example.engine, &args), GDN_UNSUPPORTED);
  EXPECT_STRNE(example.api.last_error(example.engine), "");
}

TEST(Plugin, RefusesWhatIsWrongBeforeWhatItDoesNotServe) {
  const Handle example(*plugin("example_plugin").api);
  gdn_recurrent_args args = {};
  args.struct_size = sizeof args;
  args.num_sequences = -1;
  args.num_slots = args.state_is_vk = 1;
  args.num_k_heads = args.head_k_dim = args.num_v_heads = args.head_v_dim = 1;
  args.state = example.put({0}, {1, 1, 1, 1});
  EXPECT_EQ(example.api.recurrent(example.engine, &args), GDN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace gdn
