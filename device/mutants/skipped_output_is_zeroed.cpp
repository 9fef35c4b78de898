// Bug: the output of padding is zeroed where it should be left alone.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  if (args.padding == GDN_NEGATIVE_SKIPS) other.padding = GDN_NEGATIVE_ZEROES;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("skipped_output_is_zeroed");
const MutantRegistrar self{{.name = "skipped_output_is_zeroed",
                            .bug = "the output of padding is zeroed where it should be left alone",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
