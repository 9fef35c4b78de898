// SQLite: errors in the words of the program.
#include "ci/night/database.h"

#include <fmt/format.h>

#include <cstring>

namespace gdn {
namespace {

// As long as a writer waits for others: an import is done in well under a second.
constexpr int busy_milliseconds = 30'000;

ExitStatus whose(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return exit_bad_input;
    case SQLITE_BUSY:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_LOCKED:
    case SQLITE_NOLFS:
    case SQLITE_NOMEM:
    case SQLITE_PERM:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
      return exit_infrastructure;
    default:
      return exit_internal;
  }
}

std::string words_of(sqlite3* handle, int code) {
  const int error = handle == nullptr ? 0 : sqlite3_system_errno(handle);
  const std::string system = error == 0 ? "" : fmt::format(" ({})", std::strerror(error));
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "it is no history: no database of SQLite";
    case SQLITE_CORRUPT:
      return fmt::format("it is damaged: {}", sqlite3_errmsg(handle));
    case SQLITE_BUSY:
      return fmt::format("another process has held it for {} s", busy_milliseconds / 1000);
    case SQLITE_CANTOPEN:
      return fmt::format("it cannot be opened, or no file can be made beside it{}", system);
    case SQLITE_READONLY:
      return fmt::format("it cannot be written: it or its folder is read-only{}", system);
    case SQLITE_FULL:
      return fmt::format("it cannot be written: the disk is full{}", system);
    case SQLITE_IOERR:
      return fmt::format("it cannot be read or written{}", system);
    default:
      return handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
  }
}

}  // namespace

Database::Database(const std::string& path) : path_(path) {
  const int code =
      sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  if (code != SQLITE_OK) {
    const std::string words = words_of(handle_, code);
    sqlite3_close(handle_);
    throw DatabaseError(fmt::format("{}: {}", path, words), whose(code));
  }
  sqlite3_busy_timeout(handle_, busy_milliseconds);
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail() const {
  const int code = sqlite3_extended_errcode(handle_);
  throw DatabaseError(fmt::format("{}: {}", path_, words_of(handle_, code)), whose(code));
}

bool Database::is_busy() const { return (sqlite3_errcode(handle_) & 0xff) == SQLITE_BUSY; }

void Database::run(const char* statements) {
  if (sqlite3_exec(handle_, statements, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

int64_t Database::number(const char* query) {
  Statement statement(*this, query);
  return statement.step() ? statement.number(0) : 0;
}

std::string Database::text(const char* query) {
  Statement statement(*this, query);
  return statement.step() ? statement.text(0) : "";
}

Statement::Statement(Database& database, const std::string& text) : database_(database) {
  check(sqlite3_prepare_v2(database.handle(), text.c_str(), -1, &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::check(int code) {
  if (code != SQLITE_OK) database_.fail();
}

// A text may hold any byte, also none: an empty view may point nowhere, which would be NULL.
Statement& Statement::bind_text(std::string_view value) {
  const char* const data = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_, ++parameter_, data, value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_number(int64_t value) {
  check(sqlite3_bind_int64(statement_, ++parameter_, value));
  return *this;
}

Statement& Statement::bind_figure(double value) {
  check(sqlite3_bind_double(statement_, ++parameter_, value));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail();
  return false;
}

void Statement::run() {
  while (step()) {
  }
  check(sqlite3_reset(statement_));
  parameter_ = 0;
}

std::string Statement::text(int column) const {
  const auto* const data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string() : std::string(data, bytes);
}

Transaction::~Transaction() {
  // An error may have rolled it back already: there is nothing to say then.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace gdn
