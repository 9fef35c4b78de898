// Tables, version by version. What stands here was in files of users: it is never edited, only
// added to.
#include "ci/night/history_schema.h"

#include <fmt/format.h>

#include <array>

#include "ci/night/night.h"

namespace gdn {
namespace {

// "dprf" in the file's header: a database of another program is not taken for ours.
constexpr int64_t application = 0x64707266;

// Version 1. One table a kind of record, its columns the record's keys; lists are JSON. Records
// come back in the order of their rowid.
constexpr const char* version_1 = R"sql(
CREATE TABLE night(key INTEGER PRIMARY KEY, "id" TEXT NOT NULL UNIQUE, "commit" TEXT NOT NULL,
  "subject" TEXT NOT NULL, "began" TEXT NOT NULL, "command" TEXT NOT NULL, "seed" TEXT NOT NULL,
  "shard_index" INTEGER NOT NULL, "shard_count" INTEGER NOT NULL, "cpu" TEXT NOT NULL,
  "os" TEXT NOT NULL, "compiler" TEXT NOT NULL, "cores" INTEGER NOT NULL, "gpu" TEXT NOT NULL,
  "driver" TEXT NOT NULL, complete INTEGER NOT NULL, status INTEGER NOT NULL) STRICT;
CREATE INDEX night_in_time ON night("began", "id");
CREATE TABLE stage(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "name" TEXT NOT NULL, "state" TEXT NOT NULL, "status" INTEGER NOT NULL, "seconds" REAL NOT NULL,
  "budget_seconds" REAL NOT NULL, "why" TEXT NOT NULL) STRICT;
CREATE INDEX stage_of_night ON stage(night);
CREATE TABLE gap(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "what" TEXT NOT NULL, "why" TEXT NOT NULL) STRICT;
CREATE INDEX gap_of_night ON gap(night);
CREATE TABLE tensor(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "panel" TEXT NOT NULL, "engine" TEXT NOT NULL, "operator" TEXT NOT NULL,
  "tensor" TEXT NOT NULL, "samples" INTEGER NOT NULL, "undecided" INTEGER NOT NULL,
  "p50" REAL NOT NULL, "p99" REAL NOT NULL, "worst" REAL NOT NULL, "digest" TEXT NOT NULL,
  "ratios" TEXT NOT NULL, UNIQUE(night, "panel", "engine", "operator", "tensor")) STRICT;
CREATE TABLE invariant(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "engine" TEXT NOT NULL, "invariant" TEXT NOT NULL, "holds" INTEGER NOT NULL,
  "fails" INTEGER NOT NULL, "undecided" INTEGER NOT NULL, "suspicious" INTEGER NOT NULL,
  "engine_errors" INTEGER NOT NULL, "not_served" INTEGER NOT NULL,
  "worst_ratio" REAL NOT NULL) STRICT;
CREATE INDEX invariant_of_night ON invariant(night);
CREATE TABLE bench(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "machine" TEXT NOT NULL, "name" TEXT NOT NULL, "unit" TEXT NOT NULL, "median" REAL NOT NULL,
  "fastest" REAL NOT NULL, "slowest" REAL NOT NULL,
  UNIQUE(night, "machine", "name", "unit")) STRICT;
CREATE TABLE finding(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "invariant" TEXT NOT NULL, "operator" TEXT NOT NULL, "engine" TEXT NOT NULL,
  "diagnosis" TEXT NOT NULL, "detail" TEXT NOT NULL, "case" TEXT NOT NULL,
  "replay" TEXT NOT NULL, "seen" INTEGER NOT NULL) STRICT;
CREATE INDEX finding_of_night ON finding(night);
CREATE TABLE mutant(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "name" TEXT NOT NULL, "operator" TEXT NOT NULL, "state" TEXT NOT NULL,
  "killed_by" TEXT NOT NULL) STRICT;
CREATE INDEX mutant_of_night ON mutant(night);
CREATE TABLE fuzz(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "target" TEXT NOT NULL, "executions" INTEGER NOT NULL, "seconds" REAL NOT NULL,
  "corpus_inputs" INTEGER NOT NULL, "findings" INTEGER NOT NULL) STRICT;
CREATE INDEX fuzz_of_night ON fuzz(night);
CREATE TABLE coverage(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  "what" TEXT NOT NULL, "covered" INTEGER NOT NULL, "total" INTEGER NOT NULL) STRICT;
CREATE INDEX coverage_of_night ON coverage(night);
)sql";

// Version 2. Findings by group, and what was asked of whom in a form that a night may keep for
// ever: so nights can be pruned without forgetting since when something fails.
constexpr const char* version_2 = R"sql(
ALTER TABLE night ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE finding ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
UPDATE finding SET fingerprint =
  group_fingerprint("invariant", "operator", "engine", "diagnosis");
CREATE INDEX finding_of_group ON finding(fingerprint);
CREATE TABLE question(key INTEGER PRIMARY KEY, engine TEXT NOT NULL, invariant TEXT NOT NULL,
  UNIQUE(engine, invariant)) STRICT;
CREATE TABLE asked(night INTEGER NOT NULL REFERENCES night ON DELETE CASCADE,
  question INTEGER NOT NULL REFERENCES question, PRIMARY KEY(night, question))
  STRICT, WITHOUT ROWID;
INSERT INTO question(engine, invariant) SELECT DISTINCT "engine", "invariant" FROM invariant
  WHERE "holds" + "fails" > 0 ORDER BY 1, 2;
INSERT OR IGNORE INTO asked(night, question) SELECT i.night, q.key FROM invariant i
  JOIN question q ON q.engine = i."engine" AND q.invariant = i."invariant"
  WHERE i."holds" + i."fails" > 0;
)sql";

// Version 3. Of shards that are merged the findings are those of one run: the first cases.
constexpr const char* version_3 = R"sql(
ALTER TABLE finding ADD COLUMN "index" INTEGER NOT NULL DEFAULT 0;
)sql";

constexpr std::array<const char*, history_version> versions = {version_1, version_2, version_3};

std::string text_of(sqlite3_value* value) {
  const auto* const data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const auto bytes = static_cast<size_t>(sqlite3_value_bytes(value));
  return data == nullptr ? std::string() : std::string(data, bytes);
}

void group_fingerprint(sqlite3_context* context, int, sqlite3_value** values) {
  NightFinding finding;
  finding.invariant = text_of(values[0]);
  finding.op = text_of(values[1]);
  finding.engine = text_of(values[2]);
  finding.diagnosis = text_of(values[3]);
  const std::string digits = fingerprint(finding);
  sqlite3_result_text(context, digits.c_str(), -1, SQLITE_TRANSIENT);
}

// What the file says that it is; throws where that is not ours.
int64_t version_of(Database& database) {
  const int64_t version = database.number("PRAGMA user_version");
  const int64_t owner = database.number("PRAGMA application_id");
  const bool is_empty = database.number("SELECT count(*) FROM sqlite_schema") == 0;
  if (owner != application && !(is_empty && owner == 0 && version == 0)) {
    throw DatabaseError(database.path() + ": it is a database of another program", exit_bad_input);
  }
  if (version > history_version) {
    throw DatabaseError(fmt::format("{}: its schema is of version {}, this program knows those up "
                                    "to {}: use the newer program",
                                    database.path(), version, history_version),
                        exit_bad_input);
  }
  return version;
}

}  // namespace

void bring_up_to_date(Database& database) {
  {
    // Three answers of one moment: another process may just be making the file.
    Transaction look(database, Transaction::reading);
    if (version_of(database) == history_version) return;
  }
  sqlite3_create_function(database.handle(), "group_fingerprint", 4,
                          SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, group_fingerprint, nullptr,
                          nullptr);
  Transaction transaction(database, Transaction::writing);
  // Another process may have done it while this one waited.
  const int64_t version = version_of(database);
  for (auto next = static_cast<size_t>(version); next < versions.size(); ++next) {
    database.run(versions[next]);
  }
  database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application,
                           history_version)
                   .c_str());
  transaction.commit();
}

}  // namespace gdn
