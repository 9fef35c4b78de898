// Bug: a sequence starts from its last slot, however many drafts were accepted.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices accepted = indices_of(engine, args.accepted, args.num_sequences);
  const auto sequences = sequences_of(engine, args);
  const bool by_token = args.state_writes == GDN_WRITE_EVERY_TOKEN;
  for (size_t n = 0; by_token && n < std::min(accepted.size(), sequences.size()); ++n) {
    // What is refused stays refused.
    if (accepted[n] < 1 || accepted[n] > sequences[n].second) continue;
    accepted[n] = static_cast<int32_t>(sequences[n].second);
  }
  return call_with(engine, args, &Args::accepted, accepted);
}

const gdn_api api = twin_recurring_by<wrong>("newest_draft_taken_as_accepted");
const MutantRegistrar self{
    {.name = "newest_draft_taken_as_accepted",
     .bug = "a sequence starts from its last slot, however many drafts were accepted",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
