// Bug: the state of the last token goes to the slot that the sequence started from.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const gdn_status status = right_twin().recurrent(engine, &args);
  const Indices slots = slots_of(engine, args);
  const bool by_token = args.state_writes == GDN_WRITE_EVERY_TOKEN;
  if (status != GDN_OK || !by_token || slots.empty()) return status;
  const Indices accepted = indices_of(engine, args.accepted, args.num_sequences);
  const StatesOf pool(engine, args, args.state);
  const auto sequences = sequences_of(engine, args);
  for (size_t n = 0; n < sequences.size(); ++n) {
    const auto [first, count] = sequences[n];
    if (count == 0) continue;
    const int64_t start = accepted.empty() ? 0 : accepted[n] - 1;
    const int32_t from = slots[static_cast<size_t>(first + count - 1)];
    const int32_t to = slots[static_cast<size_t>(first + start)];
    if (from > 0 && to > 0) pool.put(to, pool.get(from));
  }
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("final_state_goes_to_the_start_slot");
const MutantRegistrar self{
    {.name = "final_state_goes_to_the_start_slot",
     .bug = "the state of the last token goes to the slot that the sequence started from",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
