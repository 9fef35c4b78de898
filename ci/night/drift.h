// What moved from night to night, and what of it is an alarm. docs/history.md has the rule, its
// derivation and its odds.
#pragma once

#include "ci/night/history.h"

namespace gdn {

// Of every night of the view, each compared with those before it. Reads nights, trends and benches.
std::vector<DatedChange> tensor_drift(const HistoryView& view);
std::vector<DatedChange> bench_drift(const HistoryView& view);
// Both, by night; in a night alarms first, then the larger rise first.
std::vector<DatedChange> drift(const HistoryView& view);

// Fills in what the spread of their nights lets anyone see.
void add_detectable_steps(std::vector<BenchTrend>& benches);

// A rise of p99 from `base` that is an alarm.
bool is_rise(double base, double p99);

// One line of text of others.
std::string short_commit(const std::string& commit);

}  // namespace gdn
