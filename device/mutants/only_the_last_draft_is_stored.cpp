// Bug: of a sequence whose tokens each have a slot only the last one is stored.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const Indices slots = slots_of(engine, args);
  const auto sequences = sequences_of(engine, args);
  const StatesOf pool(engine, args, args.state);
  std::vector<std::pair<int32_t, std::vector<uint8_t>>> before;
  for (const auto& [first, count] : sequences) {
    if (args.state_writes != GDN_WRITE_EVERY_TOKEN || slots.empty()) break;
    for (int64_t t = first; t + 1 < first + count; ++t) {
      const int32_t slot = slots[static_cast<size_t>(t)];
      if (slot > 0 && slot < args.num_slots) before.emplace_back(slot, pool.get(slot));
    }
  }
  const gdn_status status = right_twin().recurrent(engine, &args);
  if (status != GDN_OK) return status;
  for (const auto& [slot, state] : before) pool.put(slot, state);
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("only_the_last_draft_is_stored");
const MutantRegistrar self{
    {.name = "only_the_last_draft_is_stored",
     .bug = "of a sequence whose tokens each have a slot only the last one is stored",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
