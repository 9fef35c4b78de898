// The entry points that libFuzzer and fuzz/replay_main.cpp call, for targets on cases.
#include "fuzz/case_target.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "fuzz/mutate.h"
#include "invariants/harness/invariant.h"
#include "reference/parallel_for.h"

namespace gdn {
namespace {

struct LabInUse {
  std::unique_ptr<Lab> lab;
  int64_t one_in;  // inputs
};

struct Judges {
  std::vector<LabInUse> labs;
  std::vector<const Invariant*> invariants;
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

// An abort would read as a finding.
[[noreturn]] void refuse(const std::string& why) {
  constexpr int bad_usage = 2;
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(bad_usage);
}

Judges& judges() {
  static Judges all;
  return all;
}

void prepare(const std::vector<JudgedEngine>& engines) {
  set_threads_max(1);  // searches share the cores as processes
  for (const auto& [name, one_in] : engines) {
    std::string why;
    std::optional<EngineSource> engine = find_engine(name, &why);
    if (!engine) refuse(why);
    judges().labs.push_back({std::make_unique<Lab>(*std::move(engine)), one_in});
  }
  for (const Invariant& invariant : registry()) {
    const auto& wanted = this_target.invariants;
    const bool asked =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), invariant.name) != wanted.end();
    if (asked) judges().invariants.push_back(&invariant);
  }
  if (judges().invariants.empty()) stop("no invariant is of a name that the target asks for");
}

// An engine is opened for the whole shape, also where the subject reads little of it: what no
// target means to search is a second an input, or all memory.
bool is_light(const Shape& s) {
  return s.hidden_size <= 8192 && s.conv_kernel <= 64 && s.num_layers <= 8;
}

// Of the target, and no longer than was asked for.
bool serves(const Case& c) {
  return is_light(c.shape) && this_target.serves(c) && c.calls.size() <= calls_kept();
}

// What was read or written lately: each input is changed again and again, and judged after each
// change.
struct Input {
  std::string text;
  std::shared_ptr<const Case> c;  // null where it is none of the target's
  bool is_printed = false;        // print gave this text
};

Input& place_of(std::string_view text) {
  static std::array<Input, 1024> inputs;
  return inputs[std::hash<std::string_view>()(text) % inputs.size()];
}

const Input& read(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Input& input = place_of(text);
  if (input.text == text) return input;
  input = {std::string(text), nullptr};
  std::string why;
  std::optional<Case> c = parse_case(text, &why);
  if (c && serves(*c)) input.c = std::make_shared<const Case>(*std::move(c));
  return input;
}

// The case that reading `text`, which print gave, would give.
void remember(std::string text, Case c) {
  if (!why_invalid(c).empty() || !serves(c)) return;
  std::erase_if(c.numbers, [](const auto& array) { return array.second.empty(); });
  Input& input = place_of(text);
  input = {std::move(text), std::make_shared<const Case>(std::move(c)), true};
}

// How invariants and engines choose among inputs, where one of them does.
uint64_t hash_of(const Input& input) {
  const auto& invariants = judges().invariants;
  const auto& labs = judges().labs;
  const bool is_layer = input.c->subject == Subject::layer;
  const auto samples = [is_layer](const Invariant* invariant) {
    const Claim& claim = invariant->claim;
    const int64_t searched = is_layer ? claim.searched_layers_one_in : claim.searched_others_one_in;
    return claim.one_in * searched > 1;
  };
  const auto is_sampled = [](const LabInUse& used) { return used.one_in > 1; };
  if (std::none_of(invariants.begin(), invariants.end(), samples) &&
      std::none_of(labs.begin(), labs.end(), is_sampled)) {
    return 0;
  }
  return fnv1a64(input.is_printed ? input.text : print(*input.c));
}

// Those that hold numbers against exact ones and their bounds. They are sampled, so the end of a
// search says of how many inputs they were asked.
constexpr std::array<std::string_view, 2> by_the_reference = {"layer_within_bound",
                                                              "operators_within_bound"};

struct Counts {
  uint64_t inputs = 0;
  uint64_t by_the_reference = 0;
};

Counts& counts() {
  static Counts all;
  return all;
}

void print_counts() {
  std::fprintf(stderr, "numbers judged by the reference on %llu of %llu inputs\n",
               static_cast<unsigned long long>(counts().by_the_reference),
               static_cast<unsigned long long>(counts().inputs));
}

void ask_all(const Input& input) {
  const Case& c = *input.c;
  bool is_judged = false;
  const uint64_t hash = hash_of(input);
  for (const auto& [lab, one_in] : judges().labs) {
    if (mix64(hash ^ fnv1a64(lab->engine())) % static_cast<uint64_t>(one_in) != 0) continue;
    for (const Invariant* invariant : judges().invariants) {
      if (!asked_in_search(*invariant, c, hash)) continue;
      const Verdict verdict = check(*invariant, c, *lab);
      const auto& names = by_the_reference;
      is_judged |=
          verdict.holds() && std::find(names.begin(), names.end(), invariant->name) != names.end();
      if (verdict.outcome != Outcome::fails && verdict.outcome != Outcome::engine_error) continue;
      stop(invariant->name + ": " + std::string(name_of(verdict.outcome)) + " on " + lab->engine() +
           ": " + verdict.detail + "\n" + print(c) +
           "replay: save this text as FILE.case, then: deltaproof replay FILE.case --invariant " +
           invariant->name + " --engine " + lab->engine());
    }
  }
  ++counts().inputs;
  counts().by_the_reference += is_judged ? 1 : 0;
}

// Text that does not fit its buffer is no use: the input stays as it was.
size_t write(Case c, uint8_t* data, size_t size, size_t size_max) {
  std::string text = print(c);
  if (text.size() > size_max) return size;
  std::memcpy(data, text.data(), text.size());
  const size_t written = text.size();
  remember(std::move(text), std::move(c));
  return written;
}

// What is remembered from one input to the next looks like a leak to libFuzzer, which runs the
// input once more to see: a fifth of its time. At the end of a search leaks are looked for all the
// same. Before the other options, so that those that are given decide.
void leave_leaks_to_the_end(int* argc, char*** argv) {
  static char option[] = "-detect_leaks=0";
  static std::vector<char*> all(*argv, *argv + *argc);
  all.insert(all.begin() + 1, option);
  all.push_back(nullptr);
  *argv = all.data();
  ++*argc;
}

Case change(const Case& c, Rng& rng) {
  const std::vector<Change>& own = this_target.changes;
  return mutated(c, rng, own.empty() ? usual_changes() : std::span<const Change>(own), serves);
}

}  // namespace
}  // namespace gdn

// What a sanitizer keeps for its reports: enough to see who allocated, and memory that was freed
// for as long as some inputs take: what is touched again stays in the cache.
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=2:max_malloc_fill_size=0:quarantine_size_mb=1:"
         "thread_local_quarantine_size_kb=64:detect_stack_use_after_return=0";
}

// Options of our own begin with two dashes; libFuzzer leaves those alone.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view option = "--engine=";
  constexpr std::string_view calls_option = "--calls-max=";
  gdn::leave_leaks_to_the_end(argc, argv);
  std::vector<gdn::JudgedEngine> engines;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(option)) {
      engines.emplace_back((*argv)[i] + option.size());
    } else if (argument.starts_with(calls_option)) {
      gdn::keep_calls(std::strtoul((*argv)[i] + calls_option.size(), nullptr, 10));
    } else if (argument.starts_with("--")) {
      // Passed over, it would leave another engine to answer.
      gdn::refuse(std::string(argument) + ": expected --engine=NAME or --calls-max=COUNT");
    }
  }
  if (engines.empty()) engines = gdn::this_target.engines;
  gdn::prepare(engines);
  std::atexit(gdn::print_counts);
  return 0;
}

// -1 keeps an input that is no case of the target out of the corpus.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const gdn::Input& input = gdn::read(data, size);
  if (!input.c) return -1;
  gdn::ask_all(input);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed) {
  gdn::Rng rng{seed};
  const std::shared_ptr<const gdn::Case> c = gdn::read(data, size).c;
  // Once in a while a new case, so that a search is not bound to where it began.
  const bool anew = !c || rng.range(0, 63) == 0;
  return gdn::write(anew ? gdn::this_target.draw(rng) : gdn::change(*c, rng), data, size, size_max);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size,
                                            const uint8_t* other, size_t other_size, uint8_t* out,
                                            size_t out_max, unsigned seed) {
  gdn::Rng rng{seed};
  const std::shared_ptr<const gdn::Case> first = gdn::read(one, one_size).c;
  const std::shared_ptr<const gdn::Case> second = gdn::read(other, other_size).c;
  if (!first || !second) return 0;
  return gdn::write(gdn::crossed(*first, *second, rng, gdn::serves), out, 0, out_max);
}
