// The recurrence on inputs of a case or of a trace, through calls that are given by their lengths.
#include "invariants/harness/lab.h"
#include "invariants/harness/recurrent_session.h"

namespace gdn {

RecurrentInputs recurrent_inputs(const Case& c, const Numbers& numbers) {
  RecurrentInputs in;
  in.shape = c.shape;
  in.dialect = c.dialect;
  in.tokens = c.subject == Subject::recurrent ? c.tokens : 1;
  const auto take = [&numbers](const char* name) {
    const auto found = numbers.arrays.find(name);
    return found == numbers.arrays.end() ? std::vector<float>{} : found->second;
  };
  in.q = take("q");
  in.k = take("k");
  in.v = take("v");
  in.g = take("g");
  in.gk = take("gk");
  in.beta = take("beta");
  in.initial_state = take("S");
  return in;
}

RecurrentRun Lab::run_recurrent(const RecurrentInputs& inputs) const {
  RecurrentRun run;
  const auto stop = [&run](gdn_status status, std::string why) {
    run.conduct = refusal(status, std::move(why));
    return std::move(run);
  };
  Case likewise;
  likewise.subject = Subject::recurrent;
  std::string why = why_not(likewise);
  if (!why.empty()) return stop(GDN_UNSUPPORTED, why);
  std::optional<Engine> engine =
      Engine::open(engine_, inputs.shape, default_options(), &run.conduct);
  if (!engine) return run;
  RecurrentSession session(*engine, inputs, PoolLayout{});
  const auto refused = [&](const char* what, gdn_status status) {
    // What is looked at after a refusal wipes the engine's own words out.
    const std::string& kept = session.refusal();
    return stop(status, std::string(what) + ": " + std::string(name_of(status)) + ": " +
                            (kept.empty() ? engine->last_error() : kept));
  };
  gdn_status status = session.start();
  if (status != GDN_OK) return refused("setting up recurrent", status);
  std::vector<int64_t> calls = inputs.calls;
  if (calls.empty()) calls.push_back(inputs.tokens);
  int64_t first = 0;
  for (const int64_t tokens : calls) {
    std::map<std::string, std::vector<float>> out;
    status = session.call(call_of(CallKind::recurrent, {{Argument::tokens, tokens}}), first, out);
    if (status == GDN_OK) status = session.state(run.states.emplace_back());
    if (status != GDN_OK) return refused("recurrent", status);
    const std::vector<float>& o = out["o"];
    run.o.insert(run.o.end(), o.begin(), o.end());
    first += tokens;
  }
  run.conduct = claim(session.misconduct().empty(), session.misconduct());
  return run;
}

}  // namespace gdn
