// Writes reports of simulated nights into a folder: for the browser test, and to look at.
//   build/dev/tests/simulated_pages out/pages
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "ci/files.h"
#include "ci/night/report.h"
#include "tests/simulated_nights.h"
// TEMPORARY VIEW
#include <map>
namespace gdn {
HistoryView naive_view(const std::vector<Night>& nights) {
  HistoryView v;
  std::map<std::string, KnownFinding> f;
  for (const Night& n : nights) {
    const NightReport r = report_of(n);
    Night h = n;
    h.tensors.clear();
    h.invariants.clear();
    v.nights.push_back(h);
    for (const Trend& t : r.view.trends) {
      bool found = false;
      for (Trend& o : v.trends)
        if (o.engine == t.engine && o.op == t.op && o.tensor == t.tensor) {
          o.points.push_back(t.points[0]);
          found = true;
        }
      if (!found) v.trends.push_back(t);
    }
    for (const BenchTrend& t : r.view.benches) {
      bool found = false;
      for (BenchTrend& o : v.benches)
        if (o.name == t.name) {
          o.points.push_back(t.points[0]);
          found = true;
        }
      if (!found) {
        v.benches.push_back(t);
        v.benches.back().detectable_step = 1.021;
      }
    }
    for (const KnownFinding& k : r.view.findings) {
      auto [it, fresh] = f.emplace(k.fingerprint, k);
      if (fresh)
        it->second.last_good_commit =
            v.nights.size() > 1 ? v.nights[v.nights.size() - 2].commit : "";
      if (!fresh) {
        it->second.nights++;
        it->second.last_commit = n.commit;
        it->second.last_began = n.began;
        it->second.last_night = n.id;
      }
    }
  }
  for (auto& [k, x] : f) {
    x.state = x.last_commit != nights.back().commit ? "fixed" : x.nights > 1 ? "known" : "new";
    v.findings.push_back(x);
  }
  return v;
}
}  // namespace gdn

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: simulated_pages FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  std::filesystem::create_directories(folder);
  using namespace gdn;
  std::vector<Night> nights = simulated_nights(SOURCE_DIR);
  NightReport report{nights.back(), naive_view(nights)};
  DriftChange change;
  change.kind = "tensor";
  change.engine = "simt";
  change.op = "gated_norm";
  change.tensor = "ONORM";
  change.before = 0.375;
  change.after = 0.75;
  change.alarm = true;
  change.since_commit = simulated_commit(10);
  change.good_commit = simulated_commit(9);
  change.words = "gated_norm ONORM on simt: p99 rose 2-fold, from 0.375 to 0.75, since " +
                 change.since_commit.substr(0, 10) + ": an alarm.";
  report.view.changes.push_back(change);
  write_whole(folder + "/report.html", as_html(report));
  write_whole(folder + "/alone.html", as_html(report_of(nights[5])));
  return 0;
}
