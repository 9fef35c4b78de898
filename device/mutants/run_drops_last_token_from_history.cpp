// Bug: the conv history that a run leaves behind lacks its last token.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  if (engine == nullptr || T < 1 || h == nullptr || out == nullptr) {
    return right_twin().run(engine, layer, T, h, out);
  }
  const auto hidden = count_of(engine, GDN_OUT);
  const gdn_status status = right_twin().run(engine, layer, T - 1, h, out);
  if (status != GDN_OK) return status;
  const std::vector<uint8_t> before = exported(engine, layer);
  const int64_t last = (T - 1) * hidden;
  const gdn_status ended = right_twin().run(engine, layer, 1, h + last, out + last);
  if (ended == GDN_OK) restore_history(engine, layer, before);
  return ended;
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "run_drops_last_token_from_history";
  table.run = run;
  return table;
}();
const MutantRegistrar self{{.name = "run_drops_last_token_from_history",
                            .bug = "after a run the history ends one token early",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
