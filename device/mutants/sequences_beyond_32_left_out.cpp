// Bug: a batch is taken to have 32 sequences at most; those beyond keep the state of their slot.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

constexpr size_t sequences_max = 32;

gdn_status wrong(gdn_engine* engine, const Args& args) {
  if (args.num_sequences <= static_cast<int64_t>(sequences_max) ||
      args.state_writes != GDN_WRITE_FINAL) {
    return right_twin().recurrent(engine, &args);
  }
  const Indices slots = slots_of(engine, args);
  const StatesOf states(engine, args, args.state);
  std::vector<std::pair<int64_t, std::vector<uint8_t>>> kept;
  for (size_t n = sequences_max; n < slots.size(); ++n) {
    const bool is_slot = slots[n] >= 0 && slots[n] < args.num_slots;
    if (is_slot) kept.emplace_back(slots[n], states.get(slots[n]));
  }
  const gdn_status status = right_twin().recurrent(engine, &args);
  if (status != GDN_OK) return status;
  for (const auto& [slot, state] : kept) states.put(slot, state);
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("sequences_beyond_32_left_out");
const MutantRegistrar self{{.name = "sequences_beyond_32_left_out",
                            .bug = "sequences of a batch beyond 32 keep their state",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
