// A history file: opened, and its errors as values.
#include "ci/night/history.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "ci/night/history_schema.h"
#include "ci/night/history_tables.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

// What `work` gives, or no value and what it threw.
auto caught(std::string* why, ExitStatus* status, auto&& work) -> std::optional<decltype(work())> {
  ExitStatus whose = exit_internal;
  try {
    return work();
  } catch (const DatabaseError& error) {
    *why = error.what();
    whose = error.status;
  } catch (const std::exception& error) {
    *why = error.what();
  }
  if (status != nullptr) *status = whose;
  return std::nullopt;
}

class SqliteHistory final : public History {
 public:
  explicit SqliteHistory(const std::string& path) : database_(path) {
    // A file of another program stays as it is: look before anything is written.
    bring_up_to_date(database_);
    database_.run("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL");
    use_write_ahead_log();
  }

  std::optional<Stored> store(const Night& night, std::string* why, ExitStatus* status) override {
    return caught(why, status, [&] { return store_night(database_, night); });
  }
  std::optional<std::vector<PrunedNight>> prune(const PruneRule& rule, std::string* why,
                                                ExitStatus* status) override {
    return caught(why, status, [&] { return prune_nights(database_, rule); });
  }
  std::optional<HistoryView> view(size_t nights_max, std::string* why,
                                  ExitStatus* status) override {
    return caught(why, status, [&] { return read_view(database_, nights_max); });
  }
  std::optional<size_t> findings_of(const std::string& id, std::string* why,
                                    ExitStatus* status) override {
    return caught(why, status, [&] {
      Statement select(database_,
                       "SELECT count(DISTINCT fingerprint) FROM finding JOIN night ON night.key = "
                       "finding.night WHERE night.id = ?");
      select.bind_text(id);
      return select.step() ? static_cast<size_t>(select.number(0)) : size_t{0};
    });
  }
  std::optional<Night> night(const std::string& id, std::string* why, ExitStatus* status) override {
    const auto read = caught(why, status, [&] { return read_night(database_, id); });
    if (!read) return std::nullopt;
    if (!*read) {
      *why = fmt::format("{}: it has no night '{}'", database_.path(), id);
      if (status != nullptr) *status = exit_bad_input;
    }
    return *read;
  }

 private:
  // The switch, once in a file's life, does not wait for others as everything else does.
  void use_write_ahead_log() {
    constexpr auto pause = std::chrono::milliseconds(10);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (true) {
      try {
        if (database_.text("PRAGMA journal_mode = WAL") == "wal") return;
        throw DatabaseError(database_.path() + ": its file system cannot hold a write-ahead log",
                            exit_infrastructure);
      } catch (const DatabaseError&) {
        if (!database_.is_busy() || std::chrono::steady_clock::now() > deadline) throw;
      }
      std::this_thread::sleep_for(pause);
    }
  }

  Database database_;
};

}  // namespace

std::unique_ptr<History> History::open(const std::string& path, std::string* why,
                                       ExitStatus* status) {
  auto opened = caught(why, status, [&]() -> std::unique_ptr<History> {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      throw DatabaseError(path + ": it is a folder, expected a file", exit_bad_input);
    }
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty()) fs::create_directories(folder, error);
    if (error) {
      throw DatabaseError(fmt::format("{}: its folder cannot be made: {}", path, error.message()),
                          exit_infrastructure);
    }
    return std::make_unique<SqliteHistory>(path);
  });
  return opened ? std::move(*opened) : nullptr;
}

}  // namespace gdn
