// Bug: every sequence starts from zero where the first one does.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Indices flags = indices_of(engine, args.from_zero, args.num_sequences);
  for (int32_t& flag : flags) flag = flags[0];
  return call_with(engine, args, &Args::from_zero, flags);
}

const gdn_api api = twin_recurring_by<wrong>("from_zero_of_the_first_sequence");
const MutantRegistrar self{{.name = "from_zero_of_the_first_sequence",
                            .bug = "every sequence starts from zero where the first one does",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
