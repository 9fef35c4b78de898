// An engine that is right and goes about it in another way than ours is told nothing by any
// invariant: sums in an order of each row's own, buffers named anew, an allocation that it can do
// without, a call that it lacks.
#include <gtest/gtest.h>

#include <map>

#include "device/twin/engine.h"
#include "invariants/harness/invariant.h"
#include "tests/case_files.h"
#include "tests/opened_engine.h"

namespace gdn {
namespace {

// What one open engine adds to the twin: its gate, and the twin's buffers by names that are given
// out again once they are free.
struct Own {
  gdn_options options;
  std::map<gdn_buffer, gdn_buffer> buffers;
};

std::map<const gdn_engine*, Own>& own() {
  static std::map<const gdn_engine*, Own> all;
  return all;
}

const gdn_api& twin_api() {
  std::string why;
  static const gdn_api api = *find_engine("twin", &why)->api;
  return api;
}

// Odd rows are summed from the end, so that where a row stands goes into its bits.
void project_rows(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t i = 0; i < cols; ++i) {
      const int64_t c = r % 2 == 0 ? i : cols - 1 - i;
      sum += w[r * cols + c] * x[c];
    }
    y[r] = sum;
  }
}

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
  static const twin::TwinOperators operators = [] {
    twin::TwinOperators table = twin::twin_operators;
    table.project_f32 = project_rows;
    return table;
  }();
  const gdn_status status = twin::twin_open(operators, shape, options, engine);
  if (status == GDN_OK) own()[*engine].options = *options;
  return status;
}

void close(gdn_engine* engine) {
  own().erase(engine);
  twin_api().close(engine);
}

gdn_status step(gdn_engine* engine, int64_t layer, const float* h, float* out) {
  const gdn_options& options = own()[engine].options;
  if (options.allocation_gate) {
    void* const context = options.allocation_context;
    const bool has_scratch = options.allocation_gate(context, 64, 0) == 0;
    if (has_scratch) options.allocation_gate(context, 64, 1);
  }
  return twin_api().step(engine, layer, h, out);
}

// 0 is no buffer, and stays so; a name that nobody was given is one that the twin has not either.
gdn_buffer theirs(const gdn_engine* engine, gdn_buffer name) {
  if (name == 0) return 0;
  const std::map<gdn_buffer, gdn_buffer>& buffers = own()[engine].buffers;
  const auto found = buffers.find(name);
  return found == buffers.end() ? UINT64_MAX : found->second;
}

gdn_status buffer_create(gdn_engine* engine, uint64_t bytes, gdn_buffer* buffer) {
  gdn_buffer created = 0;
  const gdn_status status = twin_api().buffer_create(engine, bytes, &created);
  if (status != GDN_OK) return status;
  std::map<gdn_buffer, gdn_buffer>& buffers = own()[engine].buffers;
  gdn_buffer name = 1;
  while (buffers.contains(name)) ++name;
  buffers[name] = created;
  *buffer = name;
  return GDN_OK;
}

gdn_status buffer_release(gdn_engine* engine, gdn_buffer name) {
  const gdn_status status = twin_api().buffer_release(engine, theirs(engine, name));
  if (status == GDN_OK) own()[engine].buffers.erase(name);
  return status;
}

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  if (args == nullptr) return twin_api().recurrent(engine, args);
  gdn_recurrent_args renamed = *args;
  for (gdn_view* view : {&renamed.q, &renamed.k, &renamed.v, &renamed.g, &renamed.gk, &renamed.beta,
                         &renamed.o, &renamed.state, &renamed.snapshots, &renamed.sequences,
                         &renamed.slots, &renamed.accepted, &renamed.from_zero}) {
    view->buffer = theirs(engine, view->buffer);
  }
  return twin_api().recurrent(engine, &renamed);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

const gdn_api& other_api() {
  static const gdn_api api = [] {
    gdn_api table = twin_api();
    table.open = open;
    table.close = close;
    table.step = step;
    table.buffer_create = buffer_create;
    table.buffer_release = buffer_release;
    table.buffer_write = [](gdn_engine* engine, gdn_buffer name, uint64_t offset, const void* src,
                            uint64_t bytes) {
      return twin_api().buffer_write(engine, theirs(engine, name), offset, src, bytes);
    };
    table.buffer_read = [](gdn_engine* engine, gdn_buffer name, uint64_t offset, void* dst,
                           uint64_t bytes) {
      return twin_api().buffer_read(engine, theirs(engine, name), offset, dst, bytes);
    };
    table.recurrent = recurrent;
    table.describe = [] {
      static const std::string text = [] {
        const std::string serial =
            R"({"kind": "order", "stages": [{"kind": "serial", "fused": false}]})";
        return replaced(twin_api().describe(), serial, R"({"kind": "any"})");
      }();
      return text.c_str();
    };
    return table;
  }();
  return api;
}

// The same without a call that few of the others need.
const gdn_api& api_without_unload() {
  static const gdn_api api = [] {
    gdn_api table = other_api();
    table.unload_layer = nullptr;
    table.describe = [] {
      static const std::string text = replaced(other_api().describe(), R"("unload_layer", )", "");
      return text.c_str();
    };
    return table;
  }();
  return api;
}

void expect_nothing_against(const gdn_api& api) {
  std::string why;
  const std::optional<EngineSource> engine = use_engine("another", &api, &why);
  ASSERT_TRUE(engine.has_value()) << why;
  const Lab lab(*engine);
  size_t held = 0;
  for (const char* folder : {"seeds", "regressions"}) {
    for (const CorpusFile& file : case_files(folder)) {
      for (const Invariant& invariant : registry()) {
        if (!invariant.claim.applies(file.content)) continue;
        const Verdict v = check(invariant, file.content, lab);
        EXPECT_LT(v.outcome, Outcome::engine_error)
            << invariant.name << " on " << file.name << ": " << v.detail;
        held += v.holds();
      }
    }
  }
  EXPECT_GT(held, 1000U);
}

TEST(SoundEngines, NothingIsHeldAgainstAnother) { expect_nothing_against(other_api()); }

TEST(SoundEngines, NothingIsHeldAgainstOneThatLacksACall) {
  expect_nothing_against(api_without_unload());
}

}  // namespace
}  // namespace gdn
