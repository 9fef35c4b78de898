// Bug: a negative slot index is taken for the last slot of the pool.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices slots = slots_of(engine, args);
  if (args.padding == GDN_NO_PADDING || args.padding == GDN_SLOT_ZERO_IS_NULL) slots.clear();
  for (int32_t& slot : slots) slot = slot < 0 ? static_cast<int32_t>(args.num_slots - 1) : slot;
  return call_with(engine, args, &Args::slots, slots);
}

const gdn_api api = twin_recurring_by<wrong>("negative_slot_is_the_last_one");
const MutantRegistrar self{{.name = "negative_slot_is_the_last_one",
                            .bug = "a negative slot index is taken for the last slot of the pool",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
