// Bug: a sequence without tokens stores a zero state into its slot.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const gdn_status status = right_twin().recurrent(engine, &args);
  const Indices slots = slots_of(engine, args);
  if (status != GDN_OK || args.state_writes != GDN_WRITE_FINAL) return status;
  const StatesOf pool(engine, args, args.state);
  const auto sequences = sequences_of(engine, args);
  for (size_t n = 0; n < std::min(slots.size(), sequences.size()); ++n) {
    const bool is_there = slots[n] >= 0 && slots[n] < args.num_slots;
    if (sequences[n].second > 0 || !is_there) continue;
    std::vector<uint8_t> zero = pool.get(slots[n]);
    std::fill(zero.begin(), zero.end(), uint8_t{0});
    pool.put(slots[n], zero);
  }
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("empty_sequence_clears_its_slot");
const MutantRegistrar self{{.name = "empty_sequence_clears_its_slot",
                            .bug = "a sequence without tokens stores a zero state into its slot",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
