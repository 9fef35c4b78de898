// Bug: slot indices are cut to 16 bits.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices slots = slots_of(engine, args);
  for (int32_t& slot : slots) slot = static_cast<int16_t>(slot);
  return call_with(engine, args, &Args::slots, slots);
}

const gdn_api api = twin_recurring_by<wrong>("slot_index_of_16_bits");
const MutantRegistrar self{{.name = "slot_index_of_16_bits",
                            .bug = "slot indices are cut to 16 bits",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
