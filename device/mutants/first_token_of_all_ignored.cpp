// Bug: the first sequence starts at token 0, whatever its coding says.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  if (args.sequence_coding != GDN_START_AND_LENGTHS) return right_twin().recurrent(engine, &args);
  Indices coded = indices_of(engine, args.sequences, args.num_sequences + 1);
  if (!coded.empty() && coded[0] > 0) coded[0] = 0;
  return call_with(engine, args, &Args::sequences, coded);
}

const gdn_api api = twin_recurring_by<wrong>("first_token_of_all_ignored");
const MutantRegistrar self{{.name = "first_token_of_all_ignored",
                            .bug = "the first sequence starts at token 0, whatever its coding says",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
