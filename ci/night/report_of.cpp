// A night on its own: what a history of one night would say of it.
#include "ci/night/report.h"

namespace gdn {
namespace {

KnownFinding first_seen(const Night& night, const NightFinding& finding) {
  KnownFinding known;
  known.fingerprint = fingerprint(finding);
  known.state = "new";
  known.first_night = known.last_night = night.id;
  known.first_commit = known.last_commit = night.commit;
  known.first_began = known.last_began = night.began;
  known.nights = 1;
  known.latest = finding;
  return known;
}

// Of a group the first stays, and it was seen as often as all of them.
void add_finding(const Night& night, const NightFinding& finding,
                 std::vector<KnownFinding>& findings) {
  const std::string group = fingerprint(finding);
  for (KnownFinding& known : findings) {
    if (known.fingerprint != group) continue;
    known.latest.seen += finding.seen;
    return;
  }
  findings.push_back(first_seen(night, finding));
}

Trend trend_of(const Night& night, const NightTensor& tensor) {
  TrendPoint point;
  point.night = night.id;
  point.commit = night.commit;
  point.began = night.began;
  point.p50 = tensor.p50;
  point.p99 = tensor.p99;
  point.worst = tensor.worst;
  point.digest = tensor.digest;
  return {tensor.panel, tensor.engine, tensor.op, tensor.tensor, {point}};
}

BenchTrend trend_of(const Night& night, const NightBench& bench) {
  BenchTrend trend;
  trend.machine = bench.machine;
  trend.name = bench.name;
  trend.unit = bench.unit;
  BenchPoint point;
  point.night = night.id;
  point.commit = night.commit;
  point.began = night.began;
  point.median = bench.median;
  point.fastest = bench.fastest;
  point.slowest = bench.slowest;
  trend.points = {point};
  return trend;
}

}  // namespace

NightReport report_of(const Night& night) {
  NightReport report{night, {}};
  report.view.nights = {night};
  for (const NightTensor& tensor : night.tensors) {
    report.view.trends.push_back(trend_of(night, tensor));
  }
  for (const NightBench& bench : night.benches) {
    report.view.benches.push_back(trend_of(night, bench));
  }
  for (const NightFinding& finding : night.findings) {
    add_finding(night, finding, report.view.findings);
  }
  return report;
}

}  // namespace gdn
