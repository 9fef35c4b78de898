// Counting, and what the counts say.
#include "ci/tally.h"

#include <fmt/format.h>

namespace gdn {

void Tally::count(Outcome outcome) {
  switch (outcome) {
    case Outcome::holds:
      ++holds;
      break;
    case Outcome::fails:
      ++fails;
      break;
    case Outcome::suspicious:
      ++suspicious;
      break;
    case Outcome::undecided:
      ++undecided;
      break;
    case Outcome::not_applicable:
      ++not_applicable;
      break;
    case Outcome::engine_error:
      ++engine_errors;
      break;
  }
}

Tally& Tally::operator+=(const Tally& other) {
  holds += other.holds;
  fails += other.fails;
  suspicious += other.suspicious;
  undecided += other.undecided;
  not_applicable += other.not_applicable;
  engine_errors += other.engine_errors;
  return *this;
}

std::string as_text(const Tally& tally) {
  std::string text = fmt::format("{} hold, {} fail", tally.holds, tally.fails);
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(tally.suspicious, "suspicious");
  add(tally.undecided, "undecided");
  add(tally.not_applicable, "not applicable");
  add(tally.engine_errors, "engine errors");
  return text;
}

ExitStatus status_of(const Tally& tally) {
  if (tally.fails > 0) return exit_fails;
  if (tally.engine_errors > 0) return exit_engine_failed;
  return tally.holds > 0 ? exit_ok : exit_fails;
}

}  // namespace gdn
