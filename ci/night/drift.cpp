// Tensors of the fixed panel: what a bit-stable engine computes there repeats exactly, so that
// every change is real, and how large it is decides whether it is an alarm.
#include "ci/night/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ci/escaped.h"

namespace gdn {
namespace {

// The nights of the view, and where each is.
struct Calendar {
  explicit Calendar(const HistoryView& view) : nights(view.nights) {
    for (size_t i = 0; i < nights.size(); ++i) place[nights[i].id] = i;
  }
  const Night& at(const TrendPoint& point) const { return nights[place.at(point.night)]; }

  const std::vector<Night>& nights;
  std::map<std::string, size_t> place;
};

// Which panel on which engine ran in which nights.
using Runs = std::map<std::pair<std::string, std::string>, std::vector<size_t>>;

// What a series is compared with: the last complete night that has it, and the lowest p99 since the
// last alarm.
struct Reference {
  const TrendPoint* last = nullptr;
  const TrendPoint* base = nullptr;
};

struct Reasons {
  std::vector<std::string> alarms;
  bool any() const { return !alarms.empty(); }
};

std::string times(double from, double to) {
  return from > 0 ? fmt::format("{:.3g}x", to / from) : std::string("from exact");
}

bool is_same(const TrendPoint& a, const TrendPoint& b) {
  return a.digest == b.digest && a.samples == b.samples && a.undecided == b.undecided &&
         a.p50 == b.p50 && a.p99 == b.p99 && a.worst == b.worst;
}

// Why the step to `now` is an alarm; empty if it is not.
Reasons reasons_of(const Reference& reference, const TrendPoint& now) {
  const TrendPoint& before = *reference.last;
  const TrendPoint& base = *reference.base;
  Reasons reasons;
  if (is_rise(base.p99, now.p99)) {
    const bool is_step = is_rise(before.p99, now.p99);
    reasons.alarms.push_back(is_step ? "p99 rose " + times(before.p99, now.p99)
                                     : fmt::format("p99 rose {} in sum since {}",
                                                   times(base.p99, now.p99),
                                                   short_commit(base.commit)));
  }
  if (before.worst <= 1 && now.worst > 1) reasons.alarms.push_back("the worst left its bound");
  if (now.undecided > before.undecided) {
    reasons.alarms.push_back(
        fmt::format("{} elements more cannot be decided", now.undecided - before.undecided));
  }
  if (now.samples < before.samples) {
    reasons.alarms.push_back(fmt::format("{} samples are gone", before.samples - now.samples));
  }
  return reasons;
}

DriftChange change_of(const Trend& trend) {
  DriftChange change;
  change.kind = "tensor";
  change.panel = trend.panel;
  change.engine = trend.engine;
  change.op = trend.op;
  change.tensor = trend.tensor;
  return change;
}

std::string where(const DriftChange& change) {
  return fmt::format("{}{} {} on {}", change.alarm ? "ALARM: " : "", visible(change.op),
                     visible(change.tensor), visible(change.engine));
}

std::string since(const DriftChange& change) {
  if (change.since_commit == change.good_commit) {
    return fmt::format("between two nights of the one commit {}",
                       short_commit(change.since_commit));
  }
  return fmt::format("since {}, not in {}", short_commit(change.since_commit),
                     short_commit(change.good_commit));
}

// What else is not as it was: a bit-stable engine repeats on one machine.
std::string machine_words(const NightMachine& before, const NightMachine& now) {
  std::string words;
  const auto compare = [&](const char* what, const std::string& old, const std::string& other) {
    if (old == other) return;
    words += fmt::format("; {} '{}' -> '{}'", what, visible(old), visible(other));
  };
  compare("cpu", before.cpu, now.cpu);
  compare("compiler", before.compiler, now.compiler);
  compare("gpu", before.gpu, now.gpu);
  compare("driver", before.driver, now.driver);
  return words;
}

DriftChange moved(const Calendar& calendar, const Trend& trend, const Reference& reference,
                  const TrendPoint& now) {
  const TrendPoint& before = *reference.last;
  const Reasons reasons = reasons_of(reference, now);
  DriftChange change = change_of(trend);
  change.before = before.p99;
  change.after = now.p99;
  change.worst_before = before.worst;
  change.worst_after = now.worst;
  change.alarm = reasons.any();
  change.since_commit = now.commit;
  change.good_commit = before.commit;
  change.words = fmt::format(
      "{}: {}; p99 of error/bound {:.4g} -> {:.4g}, worst {:.4g} -> {:.4g}; {}{}", where(change),
      reasons.any() ? fmt::format("{}", fmt::join(reasons.alarms, ", ")) : "its numbers moved",
      before.p99, now.p99, before.worst, now.worst, since(change),
      machine_words(calendar.at(before).machine, calendar.at(now).machine));
  return change;
}

DriftChange vanished(const Trend& trend, const TrendPoint& before, const std::string& commit) {
  DriftChange change = change_of(trend);
  change.before = before.p99;
  change.worst_before = before.worst;
  change.alarm = true;
  change.since_commit = commit;
  change.good_commit = before.commit;
  change.words = fmt::format("{}: it is gone, other tensors of the engine are there; {}",
                             where(change), since(change));
  return change;
}

Runs runs_of(const HistoryView& view, const Calendar& calendar) {
  Runs runs;
  std::set<std::tuple<std::string, std::string, size_t>> seen;
  for (const Trend& trend : view.trends) {
    for (const TrendPoint& point : trend.points) {
      seen.emplace(trend.panel, trend.engine, calendar.place.at(point.night));
    }
  }
  // Of a night that was cut off nothing is said of what is not there.
  for (const auto& [panel, engine, night] : seen) {
    if (calendar.nights[night].complete) runs[{panel, engine}].push_back(night);
  }
  return runs;
}

// A step up starts a new level, which is then the base: an alarm is given once, in the night in
// which the sum of what crept in since the last one reaches the limit.
void advance(Reference& reference, const TrendPoint& now) {
  if (!reference.base || is_rise(reference.base->p99, now.p99) || now.p99 < reference.base->p99) {
    reference.base = &now;
  }
  reference.last = &now;
}

void walk(const Calendar& calendar, const Trend& trend, const std::vector<size_t>& runs,
          std::vector<DatedChange>& changes) {
  Reference reference;
  auto run = runs.begin();
  const auto say_gone_before = [&](size_t night) {
    // The first run without it says so; later ones have nothing to add.
    if (reference.last == nullptr) return;
    const auto next = std::upper_bound(run, runs.end(), calendar.place.at(reference.last->night));
    if (next == runs.end() || *next >= night) return;
    const Night& without = calendar.nights[*next];
    changes.push_back({without.id, vanished(trend, *reference.last, without.commit)});
    run = next + 1;
  };
  for (const TrendPoint& now : trend.points) {
    say_gone_before(calendar.place.at(now.night));
    if (reference.last != nullptr && !is_same(*reference.last, now)) {
      changes.push_back({now.night, moved(calendar, trend, reference, now)});
    }
    if (now.complete) advance(reference, now);
  }
  say_gone_before(calendar.nights.size());
}

}  // namespace

bool is_rise(double base, double p99) {
  // The smallest rise that is asked to be seen in the first night.
  constexpr double rise = 1.25;
  return p99 > base && p99 >= rise * base;
}

std::string short_commit(const std::string& commit) {
  constexpr size_t digits = 12;
  const bool is_dirty = commit.ends_with("-dirty");
  return visible(commit.substr(0, digits)) + (is_dirty ? "-dirty" : "");
}

std::vector<DatedChange> tensor_drift(const HistoryView& view) {
  const Calendar calendar(view);
  const Runs runs = runs_of(view, calendar);
  std::vector<DatedChange> changes;
  for (const Trend& trend : view.trends) {
    const auto of_engine = runs.find({trend.panel, trend.engine});
    if (of_engine == runs.end()) continue;  // no complete night has it: nothing to compare with
    walk(calendar, trend, of_engine->second, changes);
  }
  return changes;
}

}  // namespace gdn
