// What `deltaproof corpus` does: files that show a fault become regressions, the fuzzers' inputs
// are kept few, and what there is can be listed and counted. docs/corpus.md tells it to people.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

struct CorpusAddCommand {
  std::string program = "deltaproof";
  std::vector<std::string> files;
  std::vector<std::string> engines;  // beside every built-in one that is here
  std::string found_by;              // empty: the fuzz target, where the path names one
  std::string corpus;                // empty: the tree's own
  std::string target;                // whose input the files are; empty: as the path says
  std::string date;                  // yyyy-mm-dd; empty: today
};
ExitStatus run_corpus_add(const CorpusAddCommand& command);

struct CorpusMinimiseCommand {
  std::string corpus;
  std::string binaries;  // a folder of libFuzzer programs; empty: the tree's own build
};
ExitStatus run_corpus_minimise(const CorpusMinimiseCommand& command);

struct CorpusListCommand {
  std::string corpus;
  bool json = false;
};
ExitStatus run_corpus_list(const CorpusListCommand& command);
ExitStatus run_corpus_stats(const CorpusListCommand& command);

}  // namespace gdn
