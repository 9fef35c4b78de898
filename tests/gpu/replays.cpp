// What must be equal bits within one engine: T steps, run(T) and forward; a reset and the same
// again; the first and the last of 48 equal layers. The digest of all of it is compared with that
// of another process.
#include <fmt/format.h>

#include "invariants/harness/lab.h"
#include "reference/rng.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/drawn_cases.h"

namespace gdn::gpu {
namespace {

uint64_t digest_of(const std::vector<float>& numbers, uint64_t before) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()),
                               numbers.size() * sizeof(float));
  return mix64(before ^ fnv1a64(bytes));
}

// Calls that bring every layer the float32 weights of layer 0.
std::vector<Call> equal_layers(const Case& c) {
  std::vector<Call> calls = setup_calls(c);
  for (Call& call : calls) {
    if (call.kind == CallKind::load_layer_f32) call.given[Argument::weights] = 0;
  }
  return calls;
}

class Replays {
 public:
  Replays(const Lab& lab, const Shape& shape, Weights weights, int64_t tokens)
      : lab_(lab), tokens_(tokens) {
    case_.shape = shape;
    case_.weights = weights;
    case_.seed = 7;
    case_.tokens = tokens;
  }

  void add_to(Findings& found) {
    const std::string of =
        fmt::format("{}, hidden {}", name_of(case_.weights), case_.shape.hidden_size);
    one_layer(found, of);
    found.state(true, "digest of " + of, fmt::format("{:016x}", digest_));
  }

 private:
  // The outputs of all tokens, row after row, and what is read after the last.
  struct Ran {
    std::vector<float> out;
    TokenTensors reads;
    Verdict served;
  };

  Ran ran(const Observation& seen, size_t first, size_t count) {
    Ran all;
    all.served = seen.served();
    for (size_t i = first; i < first + count && i < seen.calls.size(); ++i) {
      const CallObserved& call = seen.calls[i];
      all.out.insert(all.out.end(), call.out.begin(), call.out.end());
      all.reads = call.reads;
      digest_ = digest_of(call.out, digest_);
      for (const auto& [tensor, values] : call.reads) digest_ = digest_of(values, digest_);
    }
    return all;
  }

  static Verdict equal(const Ran& got, const Ran& want) {
    Verdict all = both(got.served, want.served, same_bits("out", got.out, want.out));
    for (const auto& [tensor, values] : want.reads) {
      if (values.empty()) continue;
      const auto found = got.reads.find(tensor);
      all = both(std::move(all), found == got.reads.end()
                                     ? claim(false, "a tensor was not read")
                                     : same_bits(name_of(tensor), found->second, values));
    }
    return all;
  }

  // In one engine, a reset of all between: T steps; run(T); forward(T) where there is one layer.
  void one_layer(Findings& found, const std::string& of) {
    Case one = case_;
    one.shape.num_layers = 1;
    std::vector<Call> calls = setup_calls(one);
    const size_t setup = calls.size();
    const auto count = static_cast<size_t>(tokens_);
    const auto add_steps = [&] {
      for (int64_t t = 0; t < tokens_; ++t) {
        calls.push_back(observed(call_of(CallKind::step, {{Argument::first_token, t}})));
      }
      calls.push_back(call_of(CallKind::reset, {{Argument::layer, -1}}));
    };
    add_steps();
    for (const CallKind kind : {CallKind::run, CallKind::forward}) {
      calls.push_back(
          observed(call_of(kind, {{Argument::first_token, 0}, {Argument::tokens, tokens_}})));
      calls.push_back(call_of(CallKind::reset, {{Argument::layer, -1}}));
    }
    add_steps();
    const Observation seen = lab_.run(one.with_calls(calls));
    const Ran steps = ran(seen, setup, count);
    const Ran run = ran(seen, setup + count + 1, 1);
    const Ran forward = ran(seen, setup + count + 3, 1);
    const Ran again = ran(seen, setup + count + 5, count);
    const auto state = [&](const char* text, const Ran& got) {
      const Verdict verdict = equal(got, steps);
      found.state(verdict.holds(), fmt::format("{} ({})", text, of),
                  verdict.holds() ? fmt::format("{} numbers", verdict.elements) : verdict.detail);
    };
    state("run(T) equals T steps bit for bit", run);
    state("forward(T) of one layer equals T steps bit for bit", forward);
    state("T steps after a reset equal those before it bit for bit", again);
  }

  const Lab& lab_;
  Case case_;
  int64_t tokens_;
  uint64_t digest_ = 0;
};

// Step 0 and step 47 of equal layers, interleaved, every tensor read.
void first_and_last_layer(const Lab& lab, const Options& options, Findings& found) {
  Case c;
  c.shape = small_shape(options.layers);
  c.seed = 11;
  c.tokens = options.tokens;
  c.weights = Weights::f32;
  std::vector<Call> calls = equal_layers(c);
  const size_t setup = calls.size();
  const int64_t last = options.layers - 1;
  for (int64_t t = 0; t < options.tokens; ++t) {
    for (const int64_t layer : {int64_t{0}, last}) {
      calls.push_back(observed(
          call_of(CallKind::step, {{Argument::layer, layer}, {Argument::first_token, t}})));
    }
  }
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  for (size_t i = setup; i + 1 < seen.calls.size(); i += 2) {
    const CallObserved& a = seen.calls[i];
    const CallObserved& b = seen.calls[i + 1];
    all = both(std::move(all), same_bits("out", b.out, a.out));
    for (const auto& [tensor, values] : a.reads) {
      if (values.empty()) continue;
      all = both(std::move(all), same_bits(name_of(tensor), b.reads.at(tensor), values));
    }
  }
  found.state(all.holds(), fmt::format("layer 0 equals layer {} bit for bit", last),
              all.holds() ? fmt::format("{} numbers", all.elements) : all.detail);
}

}  // namespace

Findings check_replays(const Options& options) {
  const Lab lab(engine_or_exit(options.engine));
  Findings found;
  const Shape shape = options.whole_shape ? qwen_shape(1) : small_shape(1);
  for (const Weights weights : {Weights::f32, Weights::q4}) {
    Replays(lab, shape, weights, options.tokens).add_to(found);
  }
  first_and_last_layer(lab, options, found);
  return found;
}

}  // namespace gdn::gpu
