// Nights into tables, out of them, and away.
#include "ci/night/history_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ci/night/history_rows.h"

namespace gdn {
namespace {

[[noreturn]] void refuse_night(const Night& night, const std::string& why) {
  throw DatabaseError(fmt::format("night {}: {}", night.id, why), exit_bad_input);
}

// As it will come out again: with every value of its kind, and text that is text.
Night checked(const Night& given) {
  std::string why;
  const std::optional<Night> night = parse_night(print(given), &why);
  if (!night) refuse_night(given, "its records cannot be read: " + why);
  if (night->shard_count > 1) {
    refuse_night(*night, fmt::format("it is shard {} of {}: merge the shards, then import",
                                     night->shard_index, night->shard_count));
  }
  std::set<std::vector<std::string>> series;
  for (const NightTensor& t : night->tensors) {
    if (!series.insert({t.panel, t.engine, t.op, t.tensor}).second) {
      refuse_night(*night, fmt::format("two records of the tensor {} of {} on {}, panel {}",
                                       t.tensor, t.op, t.engine, t.panel));
    }
  }
  for (const NightBench& b : night->benches) {
    if (!series.insert({b.machine, b.name, b.unit}).second) {
      refuse_night(*night, fmt::format("two records of the bench '{}' on {}", b.name, b.machine));
    }
  }
  return *night;
}

struct StoredNight {
  int64_t key = 0;
  bool complete = false, pruned = false;
};

std::optional<StoredNight> find_night(Database& database, const std::string& id) {
  Statement select(database, "SELECT key, complete, pruned FROM night WHERE id = ?");
  select.bind_text(id);
  if (!select.step()) return std::nullopt;
  return StoredNight{select.number(0), select.number(1) != 0, select.number(2) != 0};
}

int64_t insert_header(Database& database, const Night& night) {
  const ColumnNames columns = columns_of<Night>();
  Statement insert(database,
                   fmt::format("INSERT INTO night({}, complete, status) VALUES ({}, ?, ?)",
                               columns.list, columns.parameters));
  RowWriter writer(insert);
  name_fields(writer, night);
  insert.bind_number(night.complete).bind_number(night.status);
  insert.run();
  return sqlite3_last_insert_rowid(database.handle());
}

template <class Record>
void insert_records(Database& database, const char* kind, int64_t night,
                    const std::vector<Record>& records) {
  const ColumnNames columns = columns_of<Record>();
  Statement insert(database, fmt::format("INSERT INTO {}({}, night) VALUES ({}, ?)", kind,
                                         columns.list, columns.parameters));
  for (const Record& record : records) {
    RowWriter writer(insert);
    name_fields(writer, record);
    insert.bind_number(night);
    insert.run();
  }
}

void insert_groups(Database& database, int64_t night, const Night& content) {
  Statement label(database,
                  "UPDATE finding SET fingerprint = ? WHERE night = ? AND invariant = ? AND "
                  "operator = ? AND engine = ? AND diagnosis = ?");
  for (const NightFinding& f : content.findings) {
    label.bind_text(fingerprint(f)).bind_number(night).bind_text(f.invariant).bind_text(f.op);
    label.bind_text(f.engine).bind_text(f.diagnosis);
    label.run();
  }
  Statement add_question(database,
                         "INSERT OR IGNORE INTO question(engine, invariant) VALUES (?, ?)");
  Statement add_asked(database,
                      "INSERT OR IGNORE INTO asked(night, question) SELECT ?, key FROM question "
                      "WHERE engine = ? AND invariant = ?");
  for (const NightInvariant& row : content.invariants) {
    // Undecided, refused or crashed is no answer: it does not say that a finding is gone.
    if (row.holds + row.fails == 0) continue;
    add_question.bind_text(row.engine).bind_text(row.invariant);
    add_question.run();
    add_asked.bind_number(night).bind_text(row.engine).bind_text(row.invariant);
    add_asked.run();
  }
}

Night read_night(Database& database, int64_t key) {
  Statement select(database, fmt::format("SELECT complete, status, {} FROM night WHERE key = ?",
                                         columns_of<Night>().list));
  select.bind_number(key);
  select.step();
  Night night = record_of<Night>(select, 2);
  night.complete = select.number(0) != 0;
  night.status = static_cast<int>(select.number(1));
  each_kind(night,
            [&](const char* kind, auto& records) { read_records(database, kind, key, records); });
  return night;
}

// Of the nights that go, everything but when they were, what was asked, and what was found; of that
// the case and the words alone where a later night has them too.
void drop_records(Database& database, int64_t key) {
  Night names;
  each_kind(names, [&](const char* kind, auto&) {
    if (std::string_view(kind) == "finding") return;
    Statement remove(database, fmt::format("DELETE FROM {} WHERE night = ?", kind));
    remove.bind_number(key);
    remove.run();
  });
  Statement shorten(database, R"(UPDATE finding SET "case" = '', detail = '', replay = ''
    WHERE night = ?1 AND EXISTS (SELECT 1 FROM finding other JOIN night n ON n.key = other.night
      WHERE other.fingerprint = finding.fingerprint AND
        (n.began, n.id) > (SELECT began, id FROM night WHERE key = ?1)))");
  shorten.bind_number(key);
  shorten.run();
  Statement mark(database, "UPDATE night SET pruned = 1 WHERE key = ?");
  mark.bind_number(key);
  mark.run();
}

}  // namespace

Stored store_night(Database& database, const Night& given) {
  const Night night = checked(given);
  Transaction transaction(database, Transaction::writing);
  Stored stored = Stored::added;
  if (const std::optional<StoredNight> old = find_night(database, night.id)) {
    if (old->pruned) return Stored::pruned_before;
    const bool is_better = night.complete || !old->complete;
    if (!is_better || print(read_night(database, old->key)) == print(night)) {
      return Stored::unchanged;
    }
    Statement remove(database, "DELETE FROM night WHERE key = ?");
    remove.bind_number(old->key);
    remove.run();
    stored = Stored::replaced;
  }
  const int64_t key = insert_header(database, night);
  each_kind(night, [&](const char* kind, const auto& records) {
    insert_records(database, kind, key, records);
  });
  insert_groups(database, key, night);
  transaction.commit();
  return stored;
}

std::optional<Night> read_night(Database& database, const std::string& id) {
  const std::optional<StoredNight> found = find_night(database, id);
  if (!found || found->pruned) return std::nullopt;
  return read_night(database, found->key);
}

std::vector<PrunedNight> prune_nights(Database& database, const PruneRule& rule) {
  std::vector<PrunedNight> pruned;
  {
    Transaction transaction(database, Transaction::writing);
    Statement select(database,
                     rule.before.empty()
                         ? "SELECT key, id, \"commit\", began FROM night WHERE NOT pruned AND key "
                           "NOT IN (SELECT key FROM night WHERE NOT pruned ORDER BY began DESC, "
                           "id DESC LIMIT ?) ORDER BY began, id"
                         : "SELECT key, id, \"commit\", began FROM night WHERE NOT pruned AND "
                           "began < ? ORDER BY began, id");
    rule.before.empty() ? select.bind_number(static_cast<int64_t>(rule.keep))
                        : select.bind_text(rule.before);
    std::vector<int64_t> keys;
    while (select.step()) {
      keys.push_back(select.number(0));
      pruned.push_back({select.text(1), select.text(2), select.text(3)});
    }
    for (const int64_t key : keys) drop_records(database, key);
    transaction.commit();
  }
  // Room on the disk is given back where nobody else is at the file; else the file uses it again.
  sqlite3_exec(database.handle(), "VACUUM", nullptr, nullptr, nullptr);
  return pruned;
}

}  // namespace gdn
