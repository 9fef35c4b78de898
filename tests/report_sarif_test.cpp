// The report as SARIF against the schema of SARIF 2.1.0 (OASIS): of what is written here its types,
// enums, bounds and required properties, and nothing that the schema does not know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "ci/night/report.h"
#include "tests/hostile_night.h"
#include "tests/night_example.h"

namespace gdn {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

// The words of JSON Schema that are needed, in its meaning. Every object is closed as in the
// schema: a property that is not listed is wrong, but for those of a property bag.
const json& described() {
  static const json all = json::parse(R"({
    "log": {"required": ["version", "runs"], "properties": {
      "$schema": {"type": "string", "format": "uri"}, "version": {"enum": ["2.1.0"]},
      "runs": {"type": "array", "items": {"$ref": "run"}}}},
    "run": {"required": ["tool"], "properties": {
      "tool": {"$ref": "tool"}, "automationDetails": {"$ref": "automation"},
      "invocations": {"type": "array", "items": {"$ref": "invocation"}},
      "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
      "results": {"type": "array", "items": {"$ref": "result"}}, "properties": {"$ref": "bag"}}},
    "tool": {"required": ["driver"], "properties": {"driver": {"$ref": "component"}}},
    "component": {"required": ["name"], "properties": {
      "name": {"type": "string"}, "version": {"type": "string"},
      "rules": {"type": "array", "unique": true, "items": {"$ref": "descriptor"}}}},
    "descriptor": {"required": ["id"], "properties": {
      "id": {"type": "string"}, "shortDescription": {"$ref": "formatted"},
      "defaultConfiguration": {"$ref": "configuration"}}},
    "formatted": {"required": ["text"], "properties": {"text": {"type": "string"}}},
    "configuration": {"properties": {"level": {"enum": ["none", "note", "warning", "error"]}}},
    "automation": {"properties": {"id": {"type": "string"}}},
    "invocation": {"required": ["executionSuccessful"], "properties": {
      "executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"},
      "commandLine": {"type": "string"}, "startTimeUtc": {"type": "string", "format": "date-time"},
      "toolExecutionNotifications": {"type": "array", "items": {"$ref": "notification"}}}},
    "notification": {"required": ["message"], "properties": {
      "message": {"$ref": "message"}, "level": {"enum": ["none", "note", "warning", "error"]}}},
    "message": {"required": ["text"], "properties": {"text": {"type": "string"}}},
    "result": {"required": ["message"], "properties": {
      "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": -1},
      "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
      "level": {"enum": ["none", "note", "warning", "error"]}, "message": {"$ref": "message"},
      "locations": {"type": "array", "items": {"$ref": "location"}},
      "occurrenceCount": {"type": "integer", "minimum": 1},
      "partialFingerprints": {"type": "object", "each": {"type": "string"}},
      "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
      "properties": {"$ref": "bag"}}},
    "location": {"properties": {
      "physicalLocation": {"$ref": "physical"},
      "logicalLocations": {"type": "array", "unique": true, "items": {"$ref": "logical"}}}},
    "physical": {"required": ["artifactLocation"], "properties": {
      "artifactLocation": {"$ref": "artifact"}, "region": {"$ref": "region"}}},
    "artifact": {"properties": {
      "uri": {"type": "string", "format": "uri-reference"}, "uriBaseId": {"type": "string"}}},
    "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}},
    "logical": {"properties": {"name": {"type": "string"},
      "fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}}},
    "bag": {"type": "object", "each": {}}
  })");
  return all;
}

const std::regex& form_of(const std::string& format) {
  static const std::map<std::string, std::regex> forms = {
      {"uri", std::regex("[a-z][a-z0-9+.-]*:[!#-;=?-Z_a-z~%]+")},
      {"uri-reference", std::regex("[!#-;=?-Z_a-z~%]+")},
      {"date-time", std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)")}};
  return forms.at(format);
}

bool is_of_type(const json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  return value.is_object();
}

// What is wrong with a value, a line each: where it stands, and what was expected.
void check(const json& value, const json& rule, const std::string& where, std::string& wrong);

void check_object(const json& value, const json& rule, const std::string& where,
                  std::string& wrong) {
  const auto say = [&](const std::string& what) { wrong += where + ": " + what + "\n"; };
  if (!value.is_object()) return say("expected an object");
  for (const std::string key : rule.value("required", json::array())) {
    if (!value.contains(key)) say("lacks " + key);
  }
  for (const auto& [key, part] : value.items()) {
    const json& properties = rule.at("properties");
    if (!properties.contains(key)) {
      say("has " + key + ", which is not described");
      continue;
    }
    check(part, properties[key], where + "." + key, wrong);
  }
}

void check(const json& value, const json& rule, const std::string& where, std::string& wrong) {
  const auto say = [&](const std::string& what) {
    wrong += where + ": " + what + ", got " + value.dump() + "\n";
  };
  if (rule.contains("$ref")) {
    const json& named = described().at(rule["$ref"].get<std::string>());
    return named.contains("properties") ? check_object(value, named, where, wrong)
                                        : check(value, named, where, wrong);
  }
  if (rule.contains("type") && !is_of_type(value, rule["type"])) {
    return say("expected " + rule["type"].get<std::string>());
  }
  if (rule.contains("enum") && std::count(rule["enum"].begin(), rule["enum"].end(), value) == 0) {
    say("expected one of " + rule["enum"].dump());
  }
  if (rule.contains("minimum") && value < rule["minimum"]) {
    say("expected at least " + rule["minimum"].dump());
  }
  if (rule.contains("format") &&
      !std::regex_match(value.get<std::string>(), form_of(rule["format"]))) {
    say("expected the form " + rule["format"].dump());
  }
  if (rule.contains("unique")) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (std::count(value.begin(), value.end(), value[i]) > 1) say("expected different items");
    }
  }
  size_t index = 0;
  for (const auto& [key, part] : value.items()) {
    if (rule.contains("each")) check(part, rule["each"], where + "." + key, wrong);
    if (rule.contains("items")) {
      check(part, rule["items"], where + "[" + std::to_string(index++) + "]", wrong);
    }
  }
}

// Also what the specification says in words (3.27.6): a rule's index leads to the rule of that id.
std::string wrong_with(const json& log) {
  std::string wrong;
  check(log, {{"$ref", "log"}}, "log", wrong);
  if (!wrong.empty()) return wrong;
  for (const json& run : log["runs"]) {
    const json rules = run["tool"]["driver"].value("rules", json::array());
    for (const json& result : run.value("results", json::array())) {
      const int index = result.value("ruleIndex", -1);
      if (index < 0) continue;
      if (static_cast<size_t>(index) >= rules.size() ||
          rules[static_cast<size_t>(index)]["id"] != result["ruleId"]) {
        wrong += "result: its rule " + std::to_string(index) + " is not the one of its id\n";
      }
    }
  }
  return wrong;
}

json sarif_of(const NightReport& report) { return json::parse(as_sarif(report)); }

TEST(ReportSarif, IsWhatTheSchemaDemands) {
  for (Night night : {example_night(), hostile_night()}) {
    // A moment of another form is refused where records are read.
    night.began = "2026-11-30T02:00:00Z";
    night.findings.front().seen = 0;
    NightReport report = report_of(night);
    ASSERT_FALSE(report.view.findings.empty());
    EXPECT_THAT(wrong_with(sarif_of(report)), IsEmpty());
    report.view.findings.front().state = "known";
    report.view.findings.push_back(report.view.findings.front());
    report.view.findings.back().latest.invariant = "another";
    EXPECT_THAT(wrong_with(sarif_of(report)), IsEmpty());
  }
}

TEST(ReportSarif, OfANightWithNothingInItIsToo) {
  Night night;
  night.id = "n";
  night.began = "2026-11-30T02:00:00Z";
  EXPECT_THAT(wrong_with(sarif_of(report_of(night))), IsEmpty());
}

// The check is worth what it sees: each of these is wrong by the schema or the specification.
TEST(ReportSarif, WhatTheSchemaForbidsIsSeen) {
  const json sound = sarif_of(report_of(example_night()));
  const auto with = [&](const char* place, const json& value) {
    json log = sound;
    log[json::json_pointer(place)] = value;
    return wrong_with(log);
  };
  EXPECT_THAT(with("/version", "2.0.0"), HasSubstr("log.version: expected one of"));
  EXPECT_THAT(with("/$schema", "no uri"), HasSubstr("expected the form \"uri\""));
  EXPECT_THAT(with("/comment", "x"), HasSubstr("has comment, which is not described"));
  EXPECT_THAT(with("/runs/0/tool", json::object()), HasSubstr("log.runs[0].tool: lacks driver"));
  EXPECT_THAT(with("/runs/0/results/0/level", "fatal"), HasSubstr("level: expected one of"));
  EXPECT_THAT(with("/runs/0/results/0/occurrenceCount", 0), HasSubstr("expected at least 1"));
  EXPECT_THAT(with("/runs/0/results/0/occurrenceCount", 1.5), HasSubstr("expected integer"));
  EXPECT_THAT(with("/runs/0/results/0/message", "text"), HasSubstr("message: expected an object"));
  EXPECT_THAT(with("/runs/0/results/0/partialFingerprints/x", 1), HasSubstr("expected string"));
  EXPECT_THAT(with("/runs/0/results/0/ruleIndex", 1), HasSubstr("its rule 1 is not the one"));
  EXPECT_THAT(with("/runs/0/invocations/0/startTimeUtc", "yesterday"), HasSubstr("date-time"));
  json twice = sound["runs"][0]["tool"]["driver"]["rules"];
  twice.push_back(twice[0]);
  EXPECT_THAT(with("/runs/0/tool/driver/rules", twice), HasSubstr("expected different items"));
}

}  // namespace
}  // namespace gdn
