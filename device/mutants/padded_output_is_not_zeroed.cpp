// Bug: the output of padding keeps what lay there where it should be zero.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  Args other = args;
  if (args.padding == GDN_NEGATIVE_ZEROES) other.padding = GDN_NEGATIVE_SKIPS;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = twin_recurring_by<wrong>("padded_output_is_not_zeroed");
const MutantRegistrar self{
    {.name = "padded_output_is_not_zeroed",
     .bug = "the output of padding keeps what lay there where it should be zero",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
