// Findings grouped by what they are, with since when and whether they are still there.
#include <algorithm>
#include <map>
#include <string_view>

#include "ci/night/history_rows.h"
#include "ci/night/history_tables.h"

namespace gdn {
namespace {

struct NightFacts {
  std::string id, commit, began;
  bool complete = false;
};

// Nights, in time; `at` finds the place of a key.
struct Calendar {
  std::vector<NightFacts> nights;
  std::map<int64_t, size_t> at;
};

Calendar read_calendar(Database& database) {
  Calendar calendar;
  Statement select(database,
                   "SELECT key, id, \"commit\", began, complete FROM night ORDER BY began, id");
  while (select.step()) {
    calendar.at[select.number(0)] = calendar.nights.size();
    calendar.nights.push_back(
        {select.text(1), select.text(2), select.text(3), select.number(4) != 0});
  }
  return calendar;
}

struct Group {
  std::vector<size_t> nights;  // that have it, in time
  NightFinding latest;
};

std::map<std::string, Group> read_groups(Database& database, const Calendar& calendar) {
  std::map<std::string, Group> groups;
  Statement select(database,
                   fmt::format("SELECT night, fingerprint, {} FROM finding JOIN night ON "
                               "night.key = finding.night ORDER BY night.began, night.id, "
                               "finding.rowid",
                               columns_of<NightFinding>().list));
  while (select.step()) {
    const size_t night = calendar.at.at(select.number(0));
    Group& group = groups[select.text(1)];
    NightFinding finding = record_of<NightFinding>(select, 2);
    if (!group.nights.empty() && group.nights.back() == night) {
      group.latest.seen += finding.seen;  // the same group twice: the first case stays
      continue;
    }
    group.nights.push_back(night);
    group.latest = std::move(finding);
  }
  return groups;
}

// The nights, in time, that could have said that a finding is not there.
std::vector<size_t> nights_that_asked(Database& database, const Calendar& calendar,
                                      const NightFinding& finding) {
  std::vector<size_t> nights;
  Statement select(database,
                   "SELECT night FROM asked JOIN question ON question.key = asked.question WHERE "
                   "engine = ? AND invariant = ?");
  select.bind_text(finding.engine).bind_text(finding.invariant);
  while (select.step()) {
    const size_t night = calendar.at.at(select.number(0));
    if (calendar.nights[night].complete) nights.push_back(night);
  }
  std::sort(nights.begin(), nights.end());
  return nights;
}

KnownFinding known_of(const std::string& fingerprint, const Group& group, const Calendar& calendar,
                      const std::vector<size_t>& asked) {
  const size_t first = group.nights.front(), last = group.nights.back();
  const NightFacts& first_night = calendar.nights[first];
  const NightFacts& last_night = calendar.nights[last];
  KnownFinding known;
  known.fingerprint = fingerprint;
  known.first_night = first_night.id;
  known.first_commit = first_night.commit;
  known.first_began = first_night.began;
  known.last_night = last_night.id;
  known.last_commit = last_night.commit;
  known.last_began = last_night.began;
  known.nights = group.nights.size();
  known.latest = group.latest;
  const auto good = std::lower_bound(asked.begin(), asked.end(), first);
  if (good != asked.begin()) known.last_good_commit = calendar.nights[*(good - 1)].commit;
  const bool is_gone = !asked.empty() && asked.back() > last;
  known.state = is_gone ? "fixed" : first + 1 == calendar.nights.size() ? "new" : "known";
  if (group.nights.size() > 1) {
    const size_t before = group.nights[group.nights.size() - 2];
    const auto between = std::upper_bound(asked.begin(), asked.end(), before);
    known.is_back = between != asked.end() && *between < last;
  }
  return known;
}

int order_of(std::string_view state) { return state == "new" ? 0 : state == "known" ? 1 : 2; }

}  // namespace

std::vector<KnownFinding> read_known_findings(Database& database) {
  const Calendar calendar = read_calendar(database);
  std::vector<KnownFinding> known;
  for (const auto& [fingerprint, group] : read_groups(database, calendar)) {
    const std::vector<size_t> asked = nights_that_asked(database, calendar, group.latest);
    known.push_back(known_of(fingerprint, group, calendar, asked));
  }
  std::sort(known.begin(), known.end(), [](const KnownFinding& a, const KnownFinding& b) {
    const int one = order_of(a.state), other = order_of(b.state);
    if (one != other) return one < other;
    if (a.last_began != b.last_began) return a.last_began > b.last_began;
    return a.fingerprint < b.fingerprint;
  });
  return known;
}

}  // namespace gdn
