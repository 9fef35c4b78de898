// Hostile tables of functions: null, versions, tables as short as they say, names, missing entries
// and any text for a description. The harness refuses the table with its reason, or can work with
// it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/byte_source.h"
#include "fuzz/demand.h"
#include "fuzz/guard_page.h"
#include "invariants/harness/lab.h"

namespace {

std::string described;  // what the table in hand says of itself

const gdn_api& twin() {
  static const gdn_api* const found = [] {
    for (size_t i = 0; i < gdn_builtin_count(); ++i) {
      if (std::string_view(gdn_builtin(i)->name) == "twin") return gdn_builtin(i);
    }
    std::abort();
  }();
  return *found;
}

// The entries of the table as bytes, so that any of them can be missing.
constexpr size_t first_entry = offsetof(gdn_api, open);
constexpr size_t entry_count = (sizeof(gdn_api) - first_entry) / sizeof(void*);

// The twin's own description with a few bytes changed reaches deeper than any text does.
std::string description(gdn::ByteSource& source) {
  if (source.rarely(4)) return std::string(source.text(1024));
  std::string text = twin().describe();
  for (int changes = source.byte() % 4; changes > 0 && !text.empty(); --changes) {
    const size_t at = source.word() % text.size();
    if (source.rarely(3)) {
      text.erase(at, source.byte() % 16);
    } else {
      text[at] = static_cast<char>(source.byte());
    }
  }
  return text;
}

gdn_api table(gdn::ByteSource& source, std::string& name) {
  gdn_api api = twin();
  if (source.rarely(8)) api.abi_version = static_cast<uint32_t>(source.word());
  if (source.rarely(8)) {
    api.struct_size = source.rarely(2) ? source.byte() : static_cast<uint32_t>(source.word());
  }
  if (source.rarely(8)) name = source.text(16);
  api.name = source.rarely(16) ? nullptr : name.c_str();
  for (int missing = source.byte() % 4; missing > 0; --missing) {
    const size_t entry = source.byte() % entry_count;
    std::memset(reinterpret_cast<char*>(&api) + first_entry + entry * sizeof(void*), 0,
                sizeof(void*));
  }
  described = description(source);
  if (api.describe) {
    api.describe = source.rarely(32) ? [] { return static_cast<const char*>(nullptr); }
                                     : [] { return described.c_str(); };
  }
  return api;
}

// Version and size stand in any table; of the rest there is what the size says and no byte more.
gdn::GuardedBytes as_short_as_it_says(const gdn_api& api) {
  constexpr size_t least = offsetof(gdn_api, name);
  const size_t said = api.struct_size / sizeof(void*) * sizeof(void*);
  const size_t size = said < least ? least : said > sizeof api ? sizeof api : said;
  return gdn::GuardedBytes({reinterpret_cast<const uint8_t*>(&api), size});
}

void run(gdn::EngineSource engine) {
  const gdn::Lab lab(std::move(engine));
  gdn::Case c;
  c.shape = {.hidden_size = 2,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 2,
             .conv_kernel = 2};
  c.tokens = 1;
  // Whatever is missing, a run ends in a verdict.
  lab.run(c.with_calls(gdn::stepped_calls(c)));
  for (int subject = 1; subject <= static_cast<int>(gdn::Subject::out_proj); ++subject) {
    lab.run(c.with_calls({gdn::call_of(gdn::CallKind::apply, {{gdn::Argument::op, subject - 1}})}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gdn::ByteSource source({data, size});
  const bool is_null = source.rarely(64);
  std::string name = "plugin";
  const gdn_api claimed = table(source, name);
  gdn::GuardedBytes bytes = as_short_as_it_says(claimed);
  const auto* const api = reinterpret_cast<const gdn_api*>(bytes.data());
  std::string why;
  std::optional<gdn::EngineSource> engine =
      gdn::use_engine("plugin", is_null ? nullptr : api, &why);
  gdn::demand(engine.has_value() == why.empty(), "a reason stands against what is no engine");
  const bool whole = !is_null && claimed.abi_version == GDN_ABI_VERSION &&
                     claimed.struct_size == sizeof claimed && claimed.open != nullptr &&
                     claimed.close != nullptr && claimed.describe != nullptr &&
                     claimed.last_error != nullptr;
  gdn::demand(whole || !engine, "a table of another version or size, or with a hole, is taken");
  if (engine) run(*std::move(engine));
  return 0;
}
