// Bug: the last states of a sequence are kept with the oldest first.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const gdn_status status = right_twin().recurrent(engine, &args);
  if (status != GDN_OK || args.state_writes != GDN_WRITE_LAST) return status;
  const StatesOf kept(engine, args, args.snapshots);
  const auto sequences = sequences_of(engine, args);
  for (size_t n = 0; n < sequences.size(); ++n) {
    const int64_t count = std::min(sequences[n].second, args.num_snapshots);
    const auto place = [&](int64_t k) { return k * args.num_sequences + static_cast<int64_t>(n); };
    for (int64_t k = 0; k < count / 2; ++k) {
      const std::vector<uint8_t> newer = kept.get(place(k));
      kept.put(place(k), kept.get(place(count - 1 - k)));
      kept.put(place(count - 1 - k), newer);
    }
  }
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("snapshots_oldest_first");
const MutantRegistrar self{{.name = "snapshots_oldest_first",
                            .bug = "the last states of a sequence are kept with the oldest first",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
