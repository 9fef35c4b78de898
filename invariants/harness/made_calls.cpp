// Calls as invariants make them, and what a single call gave against what it should have given.
#include "invariants/harness/made_calls.h"

#include "invariants/harness/engine.h"

namespace gdn {
namespace made {

Call call(CallKind kind, std::map<Argument, int64_t> given) {
  Call made = call_of(kind, std::move(given));
  made.reads = {Tensor::S, Tensor::HIST};
  return made;
}

Call step(int64_t layer, int64_t token) {
  return call(CallKind::step, {{Argument::layer, layer}, {Argument::first_token, token}});
}

Call run(int64_t layer, int64_t first_token, int64_t tokens) {
  return call(
      CallKind::run,
      {{Argument::layer, layer}, {Argument::first_token, first_token}, {Argument::tokens, tokens}});
}

Call forward(int64_t first_token, int64_t tokens) {
  return call(CallKind::forward,
              {{Argument::first_token, first_token}, {Argument::tokens, tokens}});
}

Call reset(int64_t layer) { return call(CallKind::reset, {{Argument::layer, layer}}); }

Call state(int64_t layer) {
  return call(CallKind::read, {{Argument::layer, layer}, {Argument::capacity, -2}});
}

Call snapshot(int64_t layer, int64_t id) {
  return call(CallKind::snapshot, {{Argument::layer, layer}, {Argument::id, id}});
}

Call rollback(int64_t layer, int64_t id) {
  return call(CallKind::rollback, {{Argument::read_layer, layer}, {Argument::id, id}});
}

Call state_export(int64_t layer, int64_t id) {
  return call(CallKind::state_export, {{Argument::layer, layer}, {Argument::id, id}});
}

Call state_import(int64_t layer, int64_t id) {
  return call(CallKind::state_import, {{Argument::layer, layer}, {Argument::id, id}});
}

std::vector<Call> same_weights_setup(const Case& c) {
  std::vector<Call> calls = setup_calls(c);
  for (Call& made : calls) {
    if (made.kind == CallKind::load_layer_f32) made.given[Argument::weights] = 0;
    if (made.kind != CallKind::bind_q4) continue;
    // The keys that the pool was given for the matrices of layer 0.
    made.given[Argument::key_qkv] = 1;
    made.given[Argument::key_z] = 2;
    made.given[Argument::key_out] = 3;
  }
  return calls;
}

std::vector<Call> load_again(const Case& c, int64_t layer) {
  std::vector<Call> calls;
  for (const Call& made : setup_calls(c)) {
    const bool is_loading = made.kind == CallKind::load_layer_f32 || made.kind == CallKind::bind_q4;
    if (is_loading && made.at(Argument::layer) == layer) calls.push_back(made);
  }
  return calls;
}

void append(std::vector<Call>& calls, const std::vector<Call>& more) {
  calls.insert(calls.end(), more.begin(), more.end());
}

}  // namespace made

std::vector<float> row_of(const std::vector<float>& out, size_t token, int64_t hidden_size) {
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(token) * hidden_size;
  return std::vector<float>(begin, begin + hidden_size);
}

Verdict within(const std::string& where, const CallObserved& got, const CallExpectation& want,
               int64_t hidden_size) {
  Verdict all = claim(true, "");
  for (size_t t = 0; t < want.tokens.size(); ++t) {
    all = both(std::move(all),
               within(where + ", OUT of its token " + std::to_string(t),
                      row_of(got.out, t, hidden_size), want.tokens[t].at(Tensor::OUT)));
  }
  for (const auto& [tensor, bounded] : want.reads) {
    const auto found = got.reads.find(tensor);
    if (found == got.reads.end() || (bounded.size() == 0 && found->second.empty())) continue;
    all = both(std::move(all),
               within(where + ", " + std::string(name_of(tensor)), found->second, bounded));
  }
  return all;
}

Verdict served_but(const Observation& seen, const std::set<size_t>& refusals) {
  Verdict all = seen.conduct;
  for (size_t i = 0; i < seen.calls.size(); ++i) {
    const CallObserved& call = seen.calls[i];
    const std::string where = "call " + std::to_string(i + 1) + ": ";
    if (refusals.contains(i)) {
      const std::string got = std::string(name_of(call.status));
      all = both(std::move(all),
                 claim(is_refusal(call.status), where + "got " + got + ", a refusal is right"));
    } else if (!call.ok()) {
      all = both(std::move(all), refusal(call.status, where + std::string(name_of(call.status)) +
                                                          ": " + call.text));
    }
  }
  return all;
}

Verdict state_kept(const std::string& where, const CallObserved& got, const CallObserved& left) {
  Verdict all = claim(true, "");
  for (const Tensor tensor : {Tensor::S, Tensor::HIST}) {
    const std::string what = where + ", " + std::string(name_of(tensor));
    const auto one = got.reads.find(tensor);
    const auto two = left.reads.find(tensor);
    if (one == got.reads.end() || two == left.reads.end()) {
      all = both(std::move(all), claim(false, what + ": it was not read"));
    } else if (!one->second.empty() || !two->second.empty()) {
      all = both(std::move(all), same_bits(what, one->second, two->second));
    }
  }
  return all;
}

}  // namespace gdn
