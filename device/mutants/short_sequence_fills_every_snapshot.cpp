// Bug: a sequence of fewer tokens than snapshots fills the others with its oldest state.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const gdn_status status = right_twin().recurrent(engine, &args);
  if (status != GDN_OK || args.state_writes != GDN_WRITE_LAST) return status;
  const StatesOf kept(engine, args, args.snapshots);
  const auto sequences = sequences_of(engine, args);
  for (size_t n = 0; n < sequences.size(); ++n) {
    const int64_t count = sequences[n].second;
    const auto place = [&](int64_t k) { return k * args.num_sequences + static_cast<int64_t>(n); };
    for (int64_t k = count; count > 0 && k < args.num_snapshots; ++k) {
      kept.put(place(k), kept.get(place(count - 1)));
    }
  }
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("short_sequence_fills_every_snapshot");
const MutantRegistrar self{
    {.name = "short_sequence_fills_every_snapshot",
     .bug = "a sequence of fewer tokens than snapshots fills the others with its oldest state",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
