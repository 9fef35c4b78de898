// "LATER (what, core C, ...) writes BUFFER bytes [A, B) and nothing orders it after EARLIER (what,
// core C, ...) reads them": a wait is known by its two queues, what they do, and the buffer.
// "HAZARD in KERNEL, block (X, Y) thread T at FILE:LINE: what; and the other thread": a kernel is
// known by its name.
#include "ci/triage/own_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "invariants/harness/engine.h"
#include "reference/tensor.h"

namespace gdn {
namespace {

// Parts that the words have; an empty one says nothing.
struct Wait {
  const char* later;
  const char* later_does;
  const char* earlier;
  const char* earlier_does;
  const char* buffer;
  const char* name;  // of what lacks it
  const char* sentence;
};

// The first that fits.
constexpr Wait waits[] = {
    {"vector", "", "copy_in", "", "state in", "state_tile_not_awaited",
     "a tile of state is used before its copy has ended"},
    {"copy_in", "", "vector", "", "state in", "state_tile_overwritten_while_used",
     "a tile of state is copied over one that is in use"},
    {"vector", "", "copy_in", "", "", "inputs_not_awaited",
     "q, k, v and gates are used before their copies have ended"},
    {"copy_in", "", "vector", "", "", "inputs_overwritten_while_used",
     "the next sequence is copied in while this one is computed"},
    {"copy_in", "", "scalar", "", "", "gates_overwritten_while_read",
     "the next gates are copied in before these are read"},
    {"vector", "", "scalar", "", "", "gates_overwritten_while_read",
     "the next gates are copied in before these are read"},
    {"scalar", "", "vector", "", "", "gate_read_before_it_is_computed",
     "the scalar queue reads a gate that has not landed"},
    {"copy_out", "", "copy_in", "", "pool", "state_stored_over_its_prefetch",
     "a store reaches into the tile that is still being read"},
    {"copy_in", "", "copy_out", "", "pool", "states_without_guard",
     "padding of a state is written over that of the next head"},
    {"copy_out", "", "copy_out", "", "", "stores_out_of_turn",
     "copies out that overlap run beside each other"},
    {"copy_out", "", "vector", "", "state out", "state_copied_before_it_is_rounded",
     "a state is copied out before it is in its slot"},
    {"copy_out", "", "vector", "", "output", "output_copied_before_it_is_rounded",
     "an output is copied out before it is in its slot"},
    {"vector", "", "copy_out", "", "state out", "state_slot_freed_before_its_copy_ended",
     "a state is rounded into a slot that is still being copied"},
    {"vector", "", "copy_out", "", "output", "output_slot_freed_before_its_copy_ended",
     "an output is rounded into a slot that is still being copied"},
    {"vector", "", "vector", "widening", "q", "q_scaled_before_it_is_widened",
     "q is scaled beside its widening"},
    {"vector", "error of a value", "vector", "", "u and", "error_beside_its_sum",
     "the error is taken before its sum is there"},
    {"vector", "rank-one addition", "vector", "", "u and", "update_beside_its_error",
     "the state is updated with an error that is not there"},
    {"vector", "rounding", "vector", "", "o", "output_rounded_beside_its_sum",
     "the output is rounded before its sum is there"},
    {"vector", "", "vector", "rank-one addition", "S", "output_beside_the_update",
     "the output reads a state that is being updated"},
    {"vector", "", "vector", "decay by channel", "S", "key_sum_beside_the_decay",
     "the sum over keys reads a state that is decaying"},
    {"vector", "", "vector", "product", "S", "channel_decay_beside_head_decay",
     "the two decays run beside each other"},
    {"vector", "", "vector", "", "S", "decay_beside_the_token_before",
     "a token decays the state that the one before is using"},
};

struct Hazard {
  std::string_view words;    // of the simulator
  std::string_view meaning;  // for who looks for its cause
  bool is_of_host = false;   // the kernel did what it was told, with memory that is not there
};
constexpr Hazard hazards[] = {
    {"race", "barrier missing"},
    {"out of bounds", "an index leaves its array"},
    {"uninitialised read", "something is read that nobody wrote"},
    {"misaligned access", "an access is wider than its address allows"},
    {"divergent barrier", "not all threads reach a barrier"},
    {"divergent warp operation", "not all lanes of its mask reach a warp operation"},
    {"undefined shuffle", "a lane takes from one outside the mask"},
    {"bad launch", "no GPU takes the shape of the launch"},
    {"use after free", "memory is used after its release", true},
};

// Kernels that have another name than their operator.
struct KernelOf {
  std::string_view kernel;
  Operator op;
};
constexpr KernelOf kernels[] = {{"gemv_f32", Operator::in_proj},
                                {"gemv_q4", Operator::in_proj},
                                {"gemv_q4_narrow", Operator::in_proj},
                                {"in_proj_q4", Operator::in_proj},
                                {"q8_activations", Operator::in_proj},
                                {"conv_gates_norm", Operator::conv},
                                {"delta_rule_norm", Operator::delta_rule},
                                {"recurrent", Operator::delta_rule},
                                {"recurrent_packed", Operator::delta_rule},
                                {"gather", Operator::delta_rule}};

std::optional<Operator> operator_of_kernel(std::string_view name) {
  const auto known = std::find_if(std::begin(kernels), std::end(kernels),
                                  [&](const KernelOf& one) { return one.kernel == name; });
  return known != std::end(kernels) ? known->op : operator_named(name);
}

// Of its file what lies in the tree, wherever that is.
std::string without_folders(const std::string& words) {
  static const std::regex folders(R"( at \S*/(device/\S+:\d))");
  return std::regex_replace(words, folders, " at $1");
}

std::regex any_hazard() {
  std::string all;
  for (const Hazard& one : hazards) all += (all.empty() ? "" : "|") + std::string(one.words);
  return std::regex("\\b(" + all + ") in (\\w+)([,:] .*)");
}

std::optional<OwnWords> fault_of_kernel(const std::string& words) {
  static const std::regex fault = any_hazard();
  std::smatch said;
  if (!std::regex_search(words, said, fault)) return std::nullopt;
  const std::string what = said[1], kernel = said[2];
  const std::optional<Operator> op = operator_of_kernel(kernel);
  if (!op) return std::nullopt;
  const Hazard& hazard = *std::find_if(std::begin(hazards), std::end(hazards),
                                       [&](const Hazard& one) { return one.words == what; });
  OwnWords own;
  own.op = hazard.is_of_host ? "host" : std::string(name_of(*op));
  own.cause.name = what + " in " + kernel;
  std::replace(own.cause.name.begin(), own.cause.name.end(), ' ', '_');
  own.cause.sentence =
      fmt::format("{}: {} in kernel {}{}", hazard.meaning, what, kernel, without_folders(said[3]));
  return own;
}

// Of an engine that nobody has seen yet.
std::optional<OwnWords> named_kernel(const std::string& words) {
  static const std::regex named(R"(\bkernel (\w+)\b)");
  for (std::sregex_iterator at(words.begin(), words.end(), named), end; at != end; ++at) {
    const std::string kernel = (*at)[1];
    const std::optional<Operator> op = operator_of_kernel(kernel);
    if (!op) continue;
    OwnWords own;
    own.op = name_of(*op);
    own.cause.name = "failure_in_" + kernel;
    own.cause.sentence = "the engine says that its kernel " + kernel + " failed";
    return own;
  }
  return std::nullopt;
}

std::optional<OwnWords> missing_wait(const std::string& words) {
  static const std::regex hazard(
      R"((\w+) \(([^,]*), core [^)]*\) \w+ (.*) bytes \[\d+, \d+\) and nothing orders it after )"
      R"((\w+) \(([^,]*), core )");
  std::smatch said;
  if (!std::regex_search(words, said, hazard)) return std::nullopt;
  const auto has = [&](size_t part, std::string_view wanted) {
    return said[static_cast<int>(part)].str().find(wanted) != std::string::npos;
  };
  for (const Wait& wait : waits) {
    if (said[1] != wait.later || !has(2, wait.later_does) || !has(3, wait.buffer)) continue;
    if (said[4] != wait.earlier || !has(5, wait.earlier_does)) continue;
    OwnWords own;
    own.op = name_of(Operator::delta_rule);  // that engine has no other
    own.cause.name = wait.name;
    own.cause.sentence = wait.sentence;
    return own;
  }
  return std::nullopt;
}

}  // namespace

bool is_own_fault(const Verdict& verdict) {
  return verdict.outcome >= Outcome::engine_error &&
         verdict.detail.find(name_of(GDN_INTERNAL)) != std::string::npos;
}

std::optional<OwnWords> own_words(const std::string& words) {
  for (const auto reader : {missing_wait, fault_of_kernel, named_kernel}) {
    if (std::optional<OwnWords> own = reader(words)) return own;
  }
  return std::nullopt;
}

}  // namespace gdn
