// Bug: a sequence starts from the token before the last accepted one.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices accepted = indices_of(engine, args.accepted, args.num_sequences);
  for (int32_t& count : accepted) count = count > 1 ? count - 1 : count;
  return call_with(engine, args, &Args::accepted, accepted);
}

const gdn_api api = twin_recurring_by<wrong>("accepted_count_off_by_one");
const MutantRegistrar self{{.name = "accepted_count_off_by_one",
                            .bug = "a sequence starts from the token before the last accepted one",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
