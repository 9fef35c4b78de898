// Claim:   an engine over the kernels gives the bits that they give on the plain simulator.
// Why:     one source of kernels and host, elementary functions of our own, nothing contracted: two
//          machines that follow IEEE have no choice left.
// Bound:   none: equal bits, or NaN in both, in all that is observed, statuses among it.
// Origin:  a compiler that contracts or flushes, a race that only one machine shows.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) {
  return c.subject != Subject::layer || c.tokens >= 1 || !c.calls.empty();
}

Verdict check(const Case& given, const Lab& lab) {
  // Which kernels an engine runs is what its contract is called.
  std::string why;
  const Lab* const simulator = lab.beside("simt", &why);
  if (!simulator) return not_applicable(why);
  if (lab.engine() == simulator->engine() || lab.contract().name != simulator->contract().name) {
    return not_applicable("it is not another machine under the simulator's kernels");
  }
  const bool stepped = given.subject == Subject::layer && given.calls.empty();
  const Case c = stepped ? given.with_calls(stepped_calls(given)) : given;
  const Observation here = lab.run(c);
  if (!here.conduct.holds()) return here.conduct;
  const Observation there = simulator->run(c);
  if (!there.conduct.holds()) return there.conduct;
  return same_bits(here, there);
}

const Registered self{{.claim = "the kernels give the same bits on every machine",
                       .applies = applies,
                       .check = check,
                       .kills = {"subnormal_outputs_flushed", "zero_loses_its_sign"},
                       .judges = {"cuda", "simt_checked"},
                       .needs = {"simt"}}};

}  // namespace
}  // namespace gdn
