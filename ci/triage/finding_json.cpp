// Findings as JSON, in both directions.
#include "ci/triage/finding_json.h"

#include <algorithm>
#include <limits>

#include "invariants/harness/json_figure.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

double figure_of(const ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  return json == "nan" ? std::numeric_limits<double>::quiet_NaN()
                       : std::numeric_limits<double>::infinity();
}

ordered_json json_of(const Verdict& v) {
  return {{"outcome", name_of(v.outcome)},
          {"worst_ratio", json_figure(v.worst_ratio)},
          {"worst_ulp", json_figure(v.worst_ulp)},
          {"elements", v.elements},
          {"undecided", v.undecided},
          {"worst_index", v.worst_index},
          {"detail", v.detail}};
}

Verdict verdict_of(const ordered_json& json) {
  Verdict v;
  for (int i = 0; i <= static_cast<int>(Outcome::fails); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (json.at("outcome") == name_of(outcome)) v.outcome = outcome;
  }
  v.worst_ratio = figure_of(json.at("worst_ratio"));
  v.worst_ulp = figure_of(json.at("worst_ulp"));
  v.elements = json.at("elements");
  v.undecided = json.at("undecided");
  v.worst_index = json.at("worst_index");
  v.detail = json.at("detail");
  return v;
}

constexpr const char* kind_names[] = {"dialect", "form"};

ordered_json json_of(const Explanation& e) {
  return {{"kind", kind_names[static_cast<int>(e.kind)]},
          {"name", e.name},
          {"sentence", e.sentence},
          {"worst_ratio", json_figure(e.worst_ratio)},
          {"elements", e.elements},
          {"tightness", json_figure(e.tightness)},
          {"explains", e.explains}};
}

Explanation explanation_of(const ordered_json& json) {
  Explanation e;
  e.kind = json.at("kind") == kind_names[0] ? Explanation::Kind::dialect : Explanation::Kind::form;
  e.name = json.at("name");
  e.sentence = json.at("sentence");
  e.worst_ratio = figure_of(json.at("worst_ratio"));
  e.elements = json.at("elements");
  e.tightness = figure_of(json.at("tightness"));
  e.explains = json.at("explains").get<std::vector<std::string>>();
  return e;
}

ordered_json json_of(const CallFinding& call) {
  return {
      {"call", call.call},     {"kind", name_of(call.kind)},  {"op", call.op},
      {"tensor", call.tensor}, {"layer", call.layer},         {"verdict", json_of(call.verdict)},
      {"causes", call.causes}, {"sentences", call.sentences}, {"setting", call.setting}};
}

CallFinding call_of(const ordered_json& json) {
  CallFinding call;
  call.call = json.at("call");
  for (int i = 0; i < call_kind_count; ++i) {
    const auto kind = static_cast<CallKind>(i);
    if (json.at("kind") == name_of(kind)) call.kind = kind;
  }
  call.op = json.at("op");
  call.tensor = json.at("tensor");
  call.layer = json.at("layer");
  call.verdict = verdict_of(json.at("verdict"));
  call.causes = json.at("causes").get<std::vector<std::string>>();
  call.sentences = json.at("sentences").get<std::vector<std::string>>();
  call.setting = json.at("setting");
  return call;
}

}  // namespace

ordered_json json_of(const Finding& f) {
  ordered_json explanations = ordered_json::array();
  for (const Explanation& e : f.explanations) explanations.push_back(json_of(e));
  return {{"engine", f.engine},
          {"origin", f.origin},
          {"operator", f.op},
          {"tensor", f.tensor},
          {"token", f.token},
          {"layer", f.layer},
          {"crashed", f.crashed},
          {"verdict", json_of(f.verdict)},
          {"explanations", explanations},
          {"call", f.call ? json_of(*f.call) : ordered_json()},
          {"patterns", f.patterns},
          {"notes", f.notes},
          {"first_bad", f.first_bad},
          {"invariant", f.invariant},
          {"steps", f.steps},
          {"tokens", tokens_of(f.smallest)},
          {"heads", heads_of(f.smallest)},
          {"case", hash8(f.smallest)},
          {"text", print(f.smallest)},
          {"replay", f.replay}};
}

Finding finding_of(const ordered_json& json) {
  Finding f;
  f.engine = json.at("engine");
  f.origin = json.at("origin");
  f.op = json.at("operator");
  f.tensor = json.at("tensor");
  f.token = json.at("token");
  f.layer = json.at("layer");
  f.crashed = json.at("crashed");
  f.verdict = verdict_of(json.at("verdict"));
  for (const ordered_json& e : json.at("explanations")) {
    f.explanations.push_back(explanation_of(e));
  }
  if (!json.at("call").is_null()) f.call = call_of(json.at("call"));
  f.patterns = json.at("patterns").get<std::vector<std::string>>();
  f.notes = json.at("notes").get<std::vector<std::string>>();
  f.first_bad = json.at("first_bad");
  f.invariant = json.at("invariant");
  f.steps = json.at("steps");
  std::string why;
  if (auto smallest = parse_case(json.at("text").get<std::string>(), &why)) f.smallest = *smallest;
  f.replay = json.at("replay");
  return f;
}

int64_t heads_of(const Case& c) {
  const std::optional<Operator> op = operator_of(c.subject);
  const bool projects = op == Operator::in_proj || op == Operator::out_proj;
  if (projects || op == Operator::dequant) return 1;
  return c.shape.num_v_heads;
}

int64_t tokens_of(const Case& c) {
  const bool has_stream = c.subject == Subject::layer || c.subject == Subject::recurrent;
  return has_stream ? c.tokens : 1;
}

}  // namespace gdn
