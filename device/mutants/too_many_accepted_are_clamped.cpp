// Bug: an accepted count beyond the tokens of its sequence is taken as all of them.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices accepted = indices_of(engine, args.accepted, args.num_sequences);
  const auto sequences = sequences_of(engine, args);
  const bool by_token = args.state_writes == GDN_WRITE_EVERY_TOKEN;
  for (size_t n = 0; n < std::min(accepted.size(), sequences.size()); ++n) {
    const auto most = static_cast<int32_t>(by_token ? sequences[n].second : 1);
    accepted[n] = std::min(accepted[n], most);
  }
  return call_with(engine, args, &Args::accepted, accepted);
}

const gdn_api api = twin_recurring_by<wrong>("too_many_accepted_are_clamped");
const MutantRegistrar self{
    {.name = "too_many_accepted_are_clamped",
     .bug = "an accepted count beyond the tokens of its sequence is taken as all of them",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
