// Records as rows: a table a kind, a column a key. The keys are those of night_fields.h.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "ci/night/database.h"
#include "ci/night/night_fields.h"
#include "ci/ratios_json.h"

namespace gdn {

class ColumnNames {
 public:
  void text(const char* key, const auto&) { add(key); }
  void id(const char* key, const auto&) { add(key); }
  void commit(const char* key, const auto&) { add(key); }
  void moment(const char* key, const auto&) { add(key); }
  void digest(const char* key, const auto&) { add(key); }
  void texts(const char* key, const auto&) { add(key); }
  void choice(const char* key, const auto&, const auto&) { add(key); }
  void count(const char* key, const auto&) { add(key); }
  void ratios(const char* key, const auto&) { add(key); }
  void figure(const char* key, const auto&) { add(key); }

  std::string list;  // "a", "b"
  std::string parameters;

 private:
  // Quoted: commit and case are words of SQL.
  void add(const char* key) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", key);
    parameters += parameters.empty() ? "?" : ", ?";
  }
};

template <class Record>
ColumnNames columns_of() {
  ColumnNames names;
  const Record record{};
  name_fields(names, record);
  return names;
}

// Binds a record's values to the next parameters.
class RowWriter {
 public:
  explicit RowWriter(Statement& statement) : statement_(statement) {}

  void text(const char*, const std::string& value) { statement_.bind_text(value); }
  void id(const char* key, const std::string& value) { text(key, value); }
  void commit(const char* key, const std::string& value) { text(key, value); }
  void moment(const char* key, const std::string& value) { text(key, value); }
  void digest(const char* key, const std::string& value) { text(key, value); }
  void choice(const char* key, const auto&, const std::string& value) { text(key, value); }
  void texts(const char*, const std::vector<std::string>& values) {
    statement_.bind_text(nlohmann::json(values).dump());
  }
  void count(const char*, auto value) { statement_.bind_number(static_cast<int64_t>(value)); }
  void ratios(const char*, const RatioCounts& value) {
    statement_.bind_text(json_of(value).dump());
  }
  void figure(const char*, double value) { statement_.bind_figure(value); }

 private:
  Statement& statement_;
};

// Reads a record from a row, its first key at the column `first`.
class RowReader {
 public:
  RowReader(const Statement& statement, int first) : statement_(statement), next_(first) {}

  void text(const char*, std::string& value) { value = statement_.text(next_++); }
  void id(const char* key, std::string& value) { text(key, value); }
  void commit(const char* key, std::string& value) { text(key, value); }
  void moment(const char* key, std::string& value) { text(key, value); }
  void digest(const char* key, std::string& value) { text(key, value); }
  void choice(const char* key, const auto&, std::string& value) { text(key, value); }
  void texts(const char*, std::vector<std::string>& values) {
    values = nlohmann::json::parse(statement_.text(next_++)).get<std::vector<std::string>>();
  }
  void count(const char*, auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(statement_.number(next_++));
  }
  void ratios(const char*, RatioCounts& value) {
    value = ratios_of(nlohmann::json::parse(statement_.text(next_++)));
  }
  void figure(const char*, double& value) { value = statement_.figure(next_++); }

 private:
  const Statement& statement_;
  int next_;
};

template <class Record>
Record record_of(const Statement& statement, int first) {
  Record record{};
  RowReader reader(statement, first);
  name_fields(reader, record);
  return record;
}

// The records of a night, in their order.
template <class Record>
void read_records(Database& database, const char* kind, int64_t night,
                  std::vector<Record>& records) {
  Statement select(database, fmt::format("SELECT {} FROM {} WHERE night = ? ORDER BY rowid",
                                         columns_of<Record>().list, kind));
  select.bind_number(night);
  while (select.step()) records.push_back(record_of<Record>(select, 0));
}

}  // namespace gdn
