// The commands of the program: each takes its parsed options and returns an exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

struct VerifyCommand {
  std::string program = "deltaproof";  // as it was called, for commands that replay
  std::vector<std::string> files;
  std::string engine = "twin";
  std::string dialect;   // empty: what each file says; NAME[,dimension=value]...
  std::string json;      // where to write, or empty
  std::string markdown;  // where to write, or empty
  std::string summary;   // a document whose part `worst error/bound` is replaced, or empty
};
ExitStatus run_verify(const VerifyCommand& command);

struct CheckCommand {
  std::string program = "deltaproof";
  bool smoke = false;
  std::vector<std::string> invariants;  // empty: all
  std::vector<std::string> engines;     // empty: twin and simt; smoke adds simt_checked and cuda
  std::string seed;                     // a number, or hexadecimal text; empty: a fixed one
  std::optional<int64_t> cases;         // to draw
  double seconds = 0;                   // no case is begun later; 0: no such end
  int jobs = 0;                         // processes; 0: as many as there are cores
  std::string shard;                    // "1/3": of three runs that share the cases, 0/3 to 2/3
  std::string corpus;                   // a folder with seeds and regressions to judge first
  std::string out = "out";              // where cases that fail are saved
  std::string json, markdown;           // where to write, or empty
};
ExitStatus run_check(const CheckCommand& command);

struct ReplayCommand {
  std::string program = "deltaproof";
  std::vector<std::string> files;
  std::vector<std::string> invariants;  // empty: all that apply
  std::vector<std::string> engines;     // empty: twin and simt
  std::string json;
};
ExitStatus run_replay(const ReplayCommand& command);

struct MatrixCommand {
  std::string program = "deltaproof";
  bool kernel_mutants = false;       // those that are edits of the kernels, in place of the others
  std::vector<std::string> mutants;  // empty: all
  std::string seeds;                 // a folder of cases; empty: the tree's own
  std::string seed;
  int64_t cases = 0;          // to draw beside the seeds
  bool drawn_only = false;    // no seeds
  bool until_killed = false;  // case by case, each mutant up to the first that kills it
  std::string from;           // a report of an earlier run, whose cells are taken; or empty
  bool public_rules = false;  // the rules of public test suites beside the invariants
  int jobs = 0;
  std::string json;  // where to write, or empty
  // A document whose part `catalogue`, or `public rules` with them, is replaced; or empty.
  std::string summary;
};
ExitStatus run_matrix(const MatrixCommand& command);

struct LimitCommand {
  std::string program = "deltaproof";
  std::string engine = "twin";
  std::string seed;
  int64_t trials = 3000;  // of each tensor in each place
  bool quick = false;     // small shapes and short horizons alone
  int jobs = 0;
  std::string json;     // where to write, or empty
  std::string summary;  // a document whose part `detection limits` is replaced, or empty
};
ExitStatus run_limit(const LimitCommand& command);

struct LongRunCommand {
  std::string program = "deltaproof";
  std::string engine = "twin";
  int64_t tokens = 1'000'000;
  int64_t head_dim = 16;
  double horizon = 1'000'000;  // tokens
  std::string seed;
  std::string json;  // where to write, or empty
};
ExitStatus run_long_run(const LongRunCommand& command);

struct StackRunCommand {
  std::string program = "deltaproof";
  std::string engine = "cuda";
  std::string shape = "27b";  // or medium, small
  int64_t layers = 48;
  int64_t tokens = 64;
  int64_t threads = 0;  // that judge; 0: one a core
  std::string seed;
  std::string sums = "auto";  // or gpu, cpu: who sums up the rows of 4-bit matrices
  std::string json;           // where to write, or empty
};
ExitStatus run_stack_run(const StackRunCommand& command);

struct OddsCommand {
  std::string program = "deltaproof";
  std::string seed;
  int64_t cases = 10'000;  // to draw; one in fifteen is such a projection
  int jobs = 0;
  std::string json;     // where to write, or empty
  std::string summary;  // a document whose part `measured odds` is replaced, or empty
};
ExitStatus run_odds(const OddsCommand& command);

struct CompareCommand {
  std::string before, after;   // reports that verify or check wrote as JSON
  double level = 0.01;         // of all tests of a comparison together
  std::string json, markdown;  // where to write, or empty
};
ExitStatus run_compare(const CompareCommand& command);

struct ListCommand {
  std::string what;  // engines, mutants, kernel_mutants, invariants, dialects; empty: all
  bool json = false;
};
ExitStatus run_list(const ListCommand& command);

struct ExportCommand {
  std::vector<std::string> files;
  std::string out;
  std::string contract = "any_f32";  // by whose bounds
  int64_t cases = 0;                 // to draw beside the files
  std::string seed;
  std::vector<std::string> subjects;  // of drawn cases; empty: all
};
ExitStatus run_export(const ExportCommand& command);

struct DialectsCommand {
  std::string program = "deltaproof";
  std::string json;     // where to write, or empty
  std::string summary;  // a document whose part `dialects` is replaced, or empty
};
ExitStatus run_dialects(const DialectsCommand& command);

std::string version_text();

}  // namespace gdn
