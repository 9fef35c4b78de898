// Bug: a slot index that no token and no sequence uses is refused where there is no such slot.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const Indices slots = slots_of(engine, args);
  const auto is_beyond = [&](int32_t slot) { return slot >= args.num_slots; };
  if (std::none_of(slots.begin(), slots.end(), is_beyond)) {
    return right_twin().recurrent(engine, &args);
  }
  Args other = args;
  other.num_slots = -1;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("stale_slots_are_refused");
const MutantRegistrar self{{.name = "stale_slots_are_refused",
                            .bug = "a slot index that nobody uses is refused",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
