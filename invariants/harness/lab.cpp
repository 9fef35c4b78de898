// Running cases: what an engine serves, and a fresh one for every run.
#include "invariants/harness/lab.h"

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <tuple>

#include "invariants/harness/guarded.h"
#include "invariants/harness/lab_runner.h"
#include "invariants/harness/watched_runs.h"

namespace gdn {
namespace {

Observation could_not_run(Outcome outcome, std::string why) {
  Observation seen;
  seen.conduct.outcome = outcome;
  seen.conduct.detail = std::move(why);
  return seen;
}

// The dimensions that a layer's numbers depend on; layouts of pools and sequences are arguments of
// `recurrent` alone, and q8_0 activations are an option.
Dialect of_a_layer(const Dialect& dialect) {
  Dialect d;
  d.head_map = dialect.head_map;
  d.qk_norm = dialect.qk_norm;
  d.scale_on = dialect.scale_on;
  d.scale = dialect.scale;
  d.gate_input = dialect.gate_input;
  d.decay = dialect.decay;
  d.softplus = dialect.softplus;
  d.beta = dialect.beta;
  d.state_storage = dialect.state_storage;
  d.output_storage = dialect.output_storage;
  return d;
}

// Would `apply` of an operator compute by other conventions than the case's?
bool has_other_conventions(Subject subject, const Dialect& a, const Dialect& b) {
  switch (subject) {
    case Subject::gates:
      return a.gate_input != b.gate_input || a.softplus != b.softplus || a.beta != b.beta;
    case Subject::qk_norm:
      return a.qk_norm != b.qk_norm || a.scale_on != b.scale_on || a.scale != b.scale;
    case Subject::delta_rule: {
      const bool one_scales = a.scale_on == Dialect::ScaleOn::output;
      const bool other_scales = b.scale_on == Dialect::ScaleOn::output;
      return a.head_map != b.head_map || one_scales != other_scales ||
             (one_scales && a.scale != b.scale) || a.state_storage != b.state_storage ||
             a.output_storage != b.output_storage;
    }
    default:
      return false;
  }
}

// Do all numbers that an engine is given agree? The calls do not matter.
bool has_same_numbers(const Case& a, const Case& b) {
  return a.seed == b.seed && a.subject == b.subject && a.shape == b.shape && a.recipe == b.recipe &&
         a.weights == b.weights && a.rows == b.rows && a.cols == b.cols && a.tokens == b.tokens &&
         a.pool == b.pool && a.dialect == b.dialect && a.numbers == b.numbers;
}

uint64_t hash_of_numbers(const Case& c) {
  uint64_t hash = c.seed;
  const auto add = [&hash](auto value) { hash = mix64(hash ^ static_cast<uint64_t>(value)); };
  for (const int64_t dimension :
       {c.rows, c.cols, c.tokens, c.shape.hidden_size, c.shape.head_k_dim, c.shape.head_v_dim,
        c.shape.num_k_heads, c.shape.num_v_heads, c.shape.conv_kernel, c.shape.num_layers}) {
    add(dimension);
  }
  for (const Knob& knob : knobs()) add(c.recipe.*knob.member);
  add(c.weights);
  add(c.subject);
  add(c.dialect.activation);
  for (const auto& [name, bits] : c.numbers) {
    const std::string_view bytes(reinterpret_cast<const char*>(bits.data()), 4 * bits.size());
    add(std::hash<std::string_view>()(bytes));
  }
  return hash;
}

std::string first_missing(const gdn_api& api, std::initializer_list<const char*> calls) {
  for (const char* name : calls) {
    if (!has_call(api, name)) return std::string("it has no ") + name;
  }
  return "";
}

}  // namespace

Verdict Observation::served() const {
  Verdict all = conduct;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].ok()) continue;
    all = both(std::move(all), refusal(calls[i].status, "call " + std::to_string(i + 1) + ": " +
                                                            std::string(name_of(calls[i].status)) +
                                                            ": " + calls[i].text));
  }
  return all;
}

Lab::Lab(EngineSource engine) : engine_(std::move(engine)) {}

std::string Lab::why_not(const Case& c) const {
  const gdn_api& api = *engine_.api;
  const Description& d = engine_.description;
  const bool wants_q8 = c.dialect.activation == Dialect::Activation::q8_0;
  const bool has_q8 = d.dialect.activation == Dialect::Activation::q8_0;
  if (wants_q8 != has_q8 && !(wants_q8 && d.options.contains("q8_activations"))) {
    return "its activations are not those of the case";
  }
  switch (c.subject) {
    case Subject::layer: {
      if (!(of_a_layer(c.dialect) == of_a_layer(d.dialect))) {
        return "the case follows dialect " + c.dialect.name + ", it does not";
      }
      std::bitset<call_kind_count> needed;
      for (const CallKind kind : {CallKind::load_layer_f32, CallKind::step, CallKind::read}) {
        needed.set(static_cast<size_t>(kind));
      }
      for (const Call& call : c.calls) needed.set(static_cast<size_t>(call.kind));
      for (size_t kind = 0; kind < needed.size(); ++kind) {
        const std::string_view name = name_of(static_cast<CallKind>(kind));
        if (needed[kind] && !has_call(api, name)) return "it has no " + std::string(name);
      }
      for (const Call& call : c.calls) {
        if (call.kind != CallKind::apply) continue;
        const std::string beside(name_of(beside_the_layers(c, call).subject));
        if (!d.apply.contains(beside)) return "its apply does not serve " + beside;
      }
      return "";
    }
    case Subject::dequant:
      return first_missing(api, {"dequant"});
    case Subject::recurrent:
      return first_missing(
          api, {"recurrent", "buffer_create", "buffer_write", "buffer_read", "buffer_release"});
    default: {
      const std::string name(name_of(c.subject));
      if (!d.apply.contains(name)) return "its apply does not serve " + name;
      if (has_other_conventions(c.subject, c.dialect, d.dialect)) {
        return "the case follows dialect " + c.dialect.name + ", its " + name + " does not";
      }
      return first_missing(api, {"apply"});
    }
  }
}

std::shared_ptr<CaseInHand> Lab::in_hand(const Case& c, std::string* why) const {
  constexpr size_t kept_max = 512;
  in_hand_.resize(kept_max);
  std::shared_ptr<CaseInHand>& place = in_hand_[hash_of_numbers(c) % kept_max];
  if (place && has_same_numbers(place->bare, c)) return place;
  CaseInHand made{c.with_calls({}), {}, {}};
  std::optional<Numbers> numbers = materialise(made.bare, why);
  if (!numbers) return nullptr;
  made.numbers = *std::move(numbers);
  // Large ones are kept one at a time.
  constexpr int64_t kept_numbers_max = 1 << 16;
  const Shape& s = c.shape;
  const int64_t count = std::max(s.conv_dim() * s.hidden_size * s.num_layers, c.rows * c.cols) +
                        c.tokens * (s.hidden_size + s.conv_dim()) + c.pool.slots * s.state_count();
  if (count > kept_numbers_max) {
    std::fill(in_hand_.begin(), in_hand_.end(), nullptr);
    lent_.clear();
  }
  return place = std::make_shared<CaseInHand>(std::move(made));
}

std::shared_ptr<const Numbers> Lab::numbers_of(const Case& c, std::string* why) const {
  const std::shared_ptr<CaseInHand> held = in_hand(c, why);
  return held ? std::shared_ptr<const Numbers>(held, &held->numbers) : nullptr;
}

const Lab* Lab::beside(std::string_view name, std::string* why) const {
  const auto known = beside_.find(name);
  if (known != beside_.end()) return known->second.get();
  std::optional<EngineSource> found = find_engine(name, why);
  if (!found) return nullptr;
  *why = why_not_available(*found);
  if (!why->empty()) return nullptr;
  return beside_.emplace(name, std::make_unique<Lab>(*std::move(found))).first->second.get();
}

int snapshots_of(const Case& c) {
  return static_cast<int>(std::count_if(c.calls.begin(), c.calls.end(), [](const Call& call) {
    return call.kind == CallKind::snapshot;
  }));
}

// All that an open engine needs for as long as it is open.
struct Session::Open {
  std::shared_ptr<const CaseInHand> in_hand;
  AllocationLedger ledger;
  std::optional<Engine> engine;
  std::optional<Runner> runner;
};

Session::Session(std::unique_ptr<Open> open) : open_(std::move(open)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

const CallObserved& Session::call(const Call& call, uint64_t refuse_nth) {
  return open_->runner->next(call, refuse_nth);
}

TokenTensors Session::read(int64_t layer, const std::set<Tensor>& tensors) {
  return open_->runner->read_tensors(layer, tensors);
}

std::optional<std::span<const float>> Session::read(int64_t layer, Tensor tensor) {
  return open_->runner->read_tensor(layer, tensor);
}

void Session::give(int64_t id, std::vector<float> rows) {
  open_->runner->give(id, std::move(rows));
}

const Verdict& Session::conduct() const { return open_->runner->conduct(); }

Observation Session::finish() && {
  Observation seen = std::move(*open_->runner).finish();
  open_->runner.reset();
  open_->engine.reset();
  seen.held_after_close = open_->ledger.held;
  seen.released_too_much = open_->ledger.overdrawn;
  return seen;
}

std::optional<Session> Lab::open(const Case& c, int snapshots, const RunOptions& run_options,
                                 Verdict* closed) const {
  WatchedRuns::tell(*this, c);
  std::string why = why_invalid(c);
  if (why.empty()) why = why_not(c);
  auto open = std::make_unique<Session::Open>();
  if (why.empty()) open->in_hand = in_hand(c, &why);
  if (!why.empty()) {
    *closed = could_not_run(Outcome::not_applicable, why).conduct;
    return std::nullopt;
  }
  gdn_options options = default_options();
  options.observe = run_options.observe ? 1 : 0;
  options.snapshots = snapshots;
  // Other operators have no activations to round, nor shapes of whole blocks.
  const bool projects = c.subject == Subject::layer || c.subject == Subject::in_proj ||
                        c.subject == Subject::out_proj;
  options.q8_activations = projects && c.dialect.activation == Dialect::Activation::q8_0 &&
                           description().dialect.activation != Dialect::Activation::q8_0;
  if (run_options.fill && can_fill()) {
    options.fill = 1;
    options.fill_pattern = *run_options.fill;
  }
  if (has_gate()) open->ledger.attach(options);
  std::optional<Engine> engine = Engine::open(engine_, c.shape, options, closed);
  if (!engine) return std::nullopt;
  open->engine.emplace(*std::move(engine));
  open->runner.emplace(*open->engine, open->in_hand->bare, open->in_hand->numbers, open->ledger,
                       run_options);
  return Session(std::move(open));
}

Observation Lab::run(const Case& c, const RunOptions& options) const {
  Observation closed;
  std::optional<Session> session = open(c, snapshots_of(c), options, &closed.conduct);
  if (!session) return closed;
  for (const Call& call : c.calls_made()) session->call(call);
  return std::move(*session).finish();
}

std::pair<Observation, Observation> Lab::run_interleaved(const Case& one, const Case& two) const {
  std::pair<Observation, Observation> closed;
  std::optional<Session> first = open(one, snapshots_of(one), {}, &closed.first.conduct);
  std::optional<Session> second = open(two, snapshots_of(two), {}, &closed.second.conduct);
  if (!first || !second) return closed;
  const std::vector<Call> of_first = one.calls_made();
  const std::vector<Call> of_second = two.calls_made();
  for (size_t i = 0; i < std::max(of_first.size(), of_second.size()); ++i) {
    if (i < of_first.size()) first->call(of_first[i]);
    if (i < of_second.size()) second->call(of_second[i]);
  }
  // The one that was opened first is closed first: the other one's results do not lie in it.
  Observation seen = std::move(*first).finish();
  return {std::move(seen), std::move(*second).finish()};
}

CallObserved Lab::opened(const Shape& shape) const {
  CallObserved seen;
  std::tie(seen.status, seen.text) = gdn::opened(engine_, shape);
  return seen;
}

Verdict Lab::dequant(int64_t rows, int64_t cols, std::span<const uint8_t> tiles,
                     std::vector<float>& out) const {
  Case c;
  c.subject = Subject::dequant;
  c.shape = {.hidden_size = 1,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 1,
             .conv_kernel = 1};
  c.rows = rows;
  c.cols = cols;
  std::string why = why_invalid(c);
  if (why.empty()) why = why_not(c);
  if (!why.empty()) return could_not_run(Outcome::not_applicable, why).conduct;
  Verdict closed;
  std::optional<Engine> engine = Engine::open(engine_, c.shape, default_options(), &closed);
  if (!engine) return closed;
  Numbers numbers;
  numbers.tiles.assign(tiles.begin(), tiles.end());
  AllocationLedger no_gate;
  Runner runner(*engine, c, numbers, no_gate, {});
  for (const Call& call : c.calls_made()) runner.next(call);
  Observation seen = std::move(runner).finish();
  if (seen.calls.front().ok()) out = std::move(seen.calls.front().arrays["out"]);
  return seen.served();
}

Verdict same_bits(const std::string& where, const CallObserved& a, const CallObserved& b) {
  Verdict all =
      claim(a.status == b.status, where + ": status " + std::string(name_of(a.status)) +
                                      ", the other run gave " + std::string(name_of(b.status)));
  const auto add = [&all](Verdict v) { all = both(std::move(all), std::move(v)); };
  add(claim(a.reads.size() == b.reads.size() && a.arrays.size() == b.arrays.size(),
            where + ": other tensors were read"));
  if (!a.out.empty() || !b.out.empty()) add(same_bits(where + ", out", a.out, b.out));
  if (!a.bytes.empty() || !b.bytes.empty()) add(same_bytes(where + ", bytes", a.bytes, b.bytes));
  for (const auto& [tensor, values] : a.reads) {
    const auto other = b.reads.find(tensor);
    if (other == b.reads.end() || (values.empty() && other->second.empty())) continue;
    add(same_bits(where + ", " + std::string(name_of(tensor)), values, other->second));
  }
  for (const auto& [name, values] : a.arrays) {
    const auto other = b.arrays.find(name);
    if (other == b.arrays.end() || (values.empty() && other->second.empty())) continue;
    add(same_bits(where + ", " + name, values, other->second));
  }
  return all;
}

Verdict same_bits(const Observation& got, const Observation& want) {
  Verdict all = claim(got.calls.size() == want.calls.size(), "another number of calls was made");
  const size_t calls = std::min(got.calls.size(), want.calls.size());
  for (size_t i = 0; i < calls; ++i) {
    all = both(std::move(all),
               same_bits("call " + std::to_string(i + 1), got.calls[i], want.calls[i]));
  }
  return all;
}

}  // namespace gdn
