// The only object that holds an engine. It runs cases on it, watches over the memory that it hands
// out, and knows what each case should give.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "invariants/harness/engine.h"
#include "invariants/harness/observation.h"
#include "reference/case.h"
#include "reference/layer.h"

namespace gdn {

// Refuses the nth allocation, counted from 1, that the engine asks for during a call.
struct RefusedAllocation {
  size_t call = 0;
  uint64_t nth = 1;
};

// A call with arguments that no case spells out, and that may be wrong.
struct Altered {
  std::function<void(gdn_recurrent_args&)> recurrent = {};  // its right arguments, to be changed
  bool null_args = false;                                   // of recurrent
  std::string given_twice = {};                             // of apply: an array
  std::map<std::string, int64_t> fewer = {};                // of apply: taken off an array's count

  bool is_any() const { return recurrent || null_args || !given_twice.empty() || !fewer.empty(); }
};

// How a run is set up, beyond the case: but for a refused allocation, what is imported and calls
// that are altered, none of it may change a bit of what comes out.
struct RunOptions {
  bool observe = true;
  std::optional<uint32_t> fill = {};  // the pattern over fresh memory, where the engine can
  std::optional<RefusedAllocation> refuse = {};  // where the engine has the gate
  // States of another run, for state_import to find by their ids until this one exports its own.
  std::map<int64_t, std::vector<uint8_t>> exports = {};
  std::map<size_t, Altered> altered = {};  // by the call's place, counted from 0
};

// An engine open on a case whose calls are made one by one; the Lab outlives it.
class Session {
 public:
  ~Session();
  Session(Session&&) noexcept;
  // Makes the next call. A reference that is valid until the call after it.
  // The nth allocation that the engine asks for during it is refused, where it has the gate; 0:
  // none.
  const CallObserved& call(const Call& call, uint64_t refuse_nth = 0);
  // Tensors of a layer, read between the calls; what is refused or miscounted is misconduct.
  TokenTensors read(int64_t layer, const std::set<Tensor>& tensors);
  // One of them, valid until the next read; nothing where that was misconduct.
  std::optional<std::span<const float>> read(int64_t layer, Tensor tensor);
  // Rows that a later call is given where its h_id is `id`.
  void give(int64_t id, std::vector<float> rows);
  // As far as has been seen.
  const Verdict& conduct() const;
  // Closes the engine.
  Observation finish() &&;

 private:
  friend class Lab;
  struct Open;
  explicit Session(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open_;
};

// What buffer_write writes into a case's buffer, wherever it begins.
std::vector<uint8_t> buffer_content(const Case& c, int64_t buffer, size_t bytes);

// A case without its calls, its numbers, and what they give where it is an operator's.
struct CaseInHand {
  Case bare;
  Numbers numbers;
  std::optional<Expectation> want;  // once it was asked for
};

// Not for use by several threads at once.
class Lab {
 public:
  explicit Lab(EngineSource engine);

  const std::string& engine() const { return engine_.name; }
  const EngineSource& source() const { return engine_; }
  const Description& description() const { return engine_.description; }
  const Contract& contract() const { return engine_.description.contract; }

  // Why the engine does not serve a case (a capability or another dialect); empty if it does.
  std::string why_not(const Case& c) const;
  bool can_fill() const { return description().options.contains("fill"); }
  bool has_gate() const { return description().options.contains("allocation_gate"); }

  // Another built-in engine; null, and *why, where it cannot run here.
  const Lab* beside(std::string_view name, std::string* why) const;

  // On a fresh engine each time.
  Observation run(const Case& c, const RunOptions& options = {}) const;
  // Two fresh engines open at once, a call of one after a call of the other.
  std::pair<Observation, Observation> run_interleaved(const Case& one, const Case& two) const;
  // A fresh engine that is given the numbers of `c`; of its calls, those that are made by hand. At
  // most `snapshots` are kept. Nothing where the case cannot be run: *why says why.
  std::optional<Session> open(const Case& c, int snapshots, const RunOptions& options,
                              Verdict* why) const;
  // The status of gdn_api::open for a shape as the C ABI takes it, and the engine's words.
  CallObserved opened(const Shape& shape) const;

  // The global check: what follows from the case alone. Remembered: valid until some ten others
  // have been asked for.
  const Expectation& expect(const Case& c) const;
  // What the call of kind recurrent at `index` gives from the states that its case's pool held
  // before it: `refused`, or arrays o, S and, where it keeps some, snapshots.
  CallExpectation expect_recurrent(const Case& c, size_t index,
                                   const std::vector<float>& pool) const;
  // The states that a case's pool begins with, as they are stored: [states][vh][kd][vd].
  std::vector<float> first_pool(const Case& c) const;
  // The local check: what follows, operator by operator, from what the engine itself read back.
  // Of a sequence that starts from zero; `tokens` are rows of the case's stream, as fed.
  std::vector<TokenExpectation> expect_local(const Case& c, int64_t layer,
                                             const std::vector<int64_t>& tokens,
                                             const std::vector<TokenTensors>& seen) const;

  // A capture's weights and inputs, of layer 0, through `step`; nothing is copied again.
  LayerRun run_layer(const LayerInputs& inputs) const;
  RecurrentRun run_recurrent(const RecurrentInputs& inputs) const;
  // Decoded tiles, in `out`; the verdict is about statuses and memory, not the numbers.
  Verdict dequant(int64_t rows, int64_t cols, std::span<const uint8_t> tiles,
                  std::vector<float>& out) const;

 private:
  std::shared_ptr<CaseInHand> in_hand(const Case& c, std::string* why) const;
  std::shared_ptr<const Numbers> numbers_of(const Case& c, std::string* why) const;

  EngineSource engine_;
  mutable std::map<std::string, Expectation> expectations_;
  // Of the cases that were used last: an invariant runs the same one again and again, and a search
  // comes back to those that it changes. Each in the place that its hash says.
  mutable std::vector<std::shared_ptr<CaseInHand>> in_hand_;
  // Those whose expectations were asked for last, so that they stay where they are.
  mutable std::vector<std::shared_ptr<CaseInHand>> lent_;
  mutable size_t next_lent_ = 0;
  mutable std::map<std::string, std::unique_ptr<Lab>, std::less<>> beside_;
};

}  // namespace gdn
