// Bug: slot 0 is a slot like others where it should be padding.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  if (args.padding == GDN_NOT_POSITIVE_ZEROES) other.padding = GDN_NEGATIVE_ZEROES;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("slot_zero_is_never_padding");
const MutantRegistrar self{{.name = "slot_zero_is_never_padding",
                            .bug = "slot 0 is a slot like others where it should be padding",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
