// Matches the distributions of two runs, tests each pair, and corrects for how many there are.
#include <fmt/format.h>

#include <algorithm>

#include "ci/compare.h"

namespace gdn {
namespace {

// Captures that both runs judged, as one part each; others are notes.
struct Common {
  ReadRun::Part before, after;
};

void add(ReadRun::Part& sum, const ReadRun::Part& more) {
  for (const auto& [key, ratios] : more.ratios) {
    RatioCounts& of = sum.ratios[key];
    of.zero += ratios.zero;
    of.infinite += ratios.infinite;
    for (const auto& [exponent, samples] : ratios.powers_of_two) {
      of.powers_of_two[exponent] += samples;
    }
  }
  for (const auto& [key, fails] : more.fails) sum.fails[key] += fails;
}

Common common_of(const ReadRun& before, const ReadRun& after, std::vector<std::string>& notes) {
  Common common;
  for (const auto& [name, part] : before.parts) {
    const auto other = after.parts.find(name);
    if (other == after.parts.end()) {
      notes.push_back(fmt::format("{} is only in {}", name, before.path));
      continue;
    }
    add(common.before, part);
    add(common.after, other->second);
  }
  for (const auto& [name, part] : after.parts) {
    if (!before.parts.contains(name)) {
      notes.push_back(fmt::format("{} is only in {}", name, after.path));
    }
  }
  return common;
}

std::string in_words(const RatioKey& key) {
  std::string words;
  for (const std::string* part : {&key.source, &key.scope, &key.op, &key.what}) {
    if (!part->empty()) words += (words.empty() ? "" : " ") + *part;
  }
  return words;
}

// Samples that all lie in one bin cannot have moved, whichever of them is whose: no test.
bool can_differ(const RatioCounts& before, const RatioCounts& after) {
  if (before.samples() == 0 || after.samples() == 0) return false;
  return quantile(before, 0) != quantile(before, 1) || quantile(after, 0) != quantile(after, 1) ||
         quantile(before, 0) != quantile(after, 0);
}

void match_rows(const Common& common, Comparison& comparison) {
  for (const auto& [key, ratios] : common.before.ratios) {
    const auto other = common.after.ratios.find(key);
    if (other == common.after.ratios.end()) {
      comparison.notes.push_back(in_words(key) + " is only in " + comparison.before);
      continue;
    }
    comparison.rows.push_back({key, ratios, other->second, {}, 1, 1, Change::untested});
  }
  for (const auto& [key, ratios] : common.after.ratios) {
    if (!common.before.ratios.contains(key)) {
      comparison.notes.push_back(in_words(key) + " is only in " + comparison.after);
    }
  }
}

void test_rows(Comparison& comparison) {
  std::vector<ComparedRow*> tested;
  std::vector<double> p;
  for (ComparedRow& row : comparison.rows) {
    if (!can_differ(row.before, row.after)) continue;
    row.moved = moved(row.before, row.after);
    tested.push_back(&row);
    p.push_back(row.moved.up.p);
    p.push_back(row.moved.down.p);
  }
  const std::vector<double> adjusted = holm(p);
  for (size_t i = 0; i < tested.size(); ++i) {
    ComparedRow& row = *tested[i];
    row.p_up = adjusted[2 * i];
    row.p_down = adjusted[2 * i + 1];
    const bool worse = row.p_up <= comparison.level, better = row.p_down <= comparison.level;
    row.change = worse && better ? Change::both
                 : worse         ? Change::worse
                 : better        ? Change::better
                                 : Change::same;
  }
  comparison.tests = p.size();
}

void note_fails(const Common& common, Comparison& comparison) {
  for (const auto& [key, fails] : common.before.fails) {
    const auto other = common.after.fails.find(key);
    if (other == common.after.fails.end()) continue;
    if (fails == 0 && other->second > 0) comparison.failing_now.push_back(in_words(key));
    if (fails > 0 && other->second == 0) comparison.failing_no_more.push_back(in_words(key));
  }
}

}  // namespace

const char* name_of(Change change) {
  constexpr const char* names[] = {"same", "worse", "better", "worse and better", "untested"};
  return names[static_cast<size_t>(change)];
}

std::optional<Comparison> compare(const ReadRun& before, const ReadRun& after, double level,
                                  std::string* why) {
  if (before.format != after.format) {
    *why = fmt::format("{} is a {}, {} is a {}: reports of one command can be compared",
                       before.path, before.format, after.path, after.format);
    return std::nullopt;
  }
  Comparison comparison;
  comparison.before = before.path;
  comparison.after = after.path;
  comparison.about_before = before.about;
  comparison.about_after = after.about;
  comparison.level = level;
  for (const ReadRun* run : {&before, &after}) {
    comparison.notes.insert(comparison.notes.end(), run->notes.begin(), run->notes.end());
  }
  const Common common = common_of(before, after, comparison.notes);
  match_rows(common, comparison);
  const bool has_samples = std::any_of(
      comparison.rows.begin(), comparison.rows.end(),
      [](const ComparedRow& row) { return row.before.samples() > 0 && row.after.samples() > 0; });
  if (!has_samples) {
    *why = fmt::format("{} and {} have no distribution in common", before.path, after.path);
    return std::nullopt;
  }
  test_rows(comparison);
  note_fails(common, comparison);
  return comparison;
}

ExitStatus status_of(const Comparison& comparison) {
  const bool worse =
      std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparedRow& row) {
        return row.change == Change::worse || row.change == Change::both;
      });
  return worse || !comparison.failing_now.empty() ? exit_fails : exit_ok;
}

}  // namespace gdn
