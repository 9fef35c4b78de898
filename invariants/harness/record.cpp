// Records as JSON lines.
#include "invariants/harness/record.h"

#include "invariants/harness/json_figure.h"

namespace gdn {
std::string record_line(std::string_view engine, std::string_view invariant, const Case& c,
                        const Verdict& verdict) {
  nlohmann::ordered_json line;
  line["version"] = record_version;
  line["engine"] = engine;
  line["invariant"] = invariant;
  line["case"] = hash8(c);
  line["subject"] = name_of(c.subject);
  line["seed"] = std::to_string(c.seed);
  line["outcome"] = name_of(verdict.outcome);
  line["elements"] = verdict.elements;
  line["undecided"] = verdict.undecided;
  line["worst_ratio"] = json_figure(verdict.worst_ratio);
  line["worst_ulp"] = json_figure(verdict.worst_ulp);
  line["worst_index"] = verdict.worst_index;
  line["detail"] = verdict.detail;
  line["text"] = print(c);
  // An engine's own words may be anything; what is no UTF-8 is replaced.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace gdn
