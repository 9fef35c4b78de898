// Bug: of two sequences with one slot the second is left out in place of a refusal.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices slots = slots_of(engine, args);
  const bool finals = args.state_writes == GDN_WRITE_FINAL;
  bool is_twice = false;
  for (size_t n = 1; finals && n < slots.size(); ++n) {
    const auto end = slots.begin() + static_cast<std::ptrdiff_t>(n);
    if (slots[n] < 0 || std::find(slots.begin(), end, slots[n]) == end) continue;
    is_twice = true;
    slots[n] = -1;
  }
  if (!is_twice) return right_twin().recurrent(engine, &args);
  Args other = args;
  other.padding = GDN_NEGATIVE_SKIPS;
  return call_with(engine, other, &Args::slots, slots);
}

const gdn_api api = twin_recurring_by<wrong>("one_slot_for_two_states");
const MutantRegistrar self{
    {.name = "one_slot_for_two_states",
     .bug = "of two sequences with one slot the second is left out in place of a refusal",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
