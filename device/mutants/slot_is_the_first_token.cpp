// Bug: without slot indices a sequence is in the slot of its first token's number.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const auto sequences = sequences_of(engine, args);
  Indices slots;
  for (const auto& sequence : sequences) slots.push_back(static_cast<int32_t>(sequence.first));
  if (args.slots.buffer != 0 || args.sequences.buffer == 0) slots.clear();
  // Slot 0 is no padding where nobody names it.
  Args other = args;
  other.padding = GDN_NO_PADDING;
  return call_with(engine, slots.empty() ? args : other, &Args::slots, slots);
}

const gdn_api api = twin_recurring_by<wrong>("slot_is_the_first_token");
const MutantRegistrar self{
    {.name = "slot_is_the_first_token",
     .bug = "without slot indices a sequence is in the slot of its first token's number",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
