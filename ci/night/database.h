// SQLite, as much of it as a history needs. What goes wrong is thrown, with whose fault it is.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ci/exit_status.h"

namespace gdn {

struct DatabaseError : std::runtime_error {
  DatabaseError(const std::string& what, ExitStatus whose)
      : std::runtime_error(what), status(whose) {}
  ExitStatus status;
};

class Database {
 public:
  explicit Database(const std::string& path);  // opens or makes it
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const char* statements);
  int64_t number(const char* query);  // the first value of its first row
  std::string text(const char* query);
  // With what SQLite says of the last thing that went wrong.
  [[noreturn]] void fail() const;
  bool is_busy() const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(Database& database, const std::string& text);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters in their order.
  Statement& bind_text(std::string_view value);
  Statement& bind_number(int64_t value);
  Statement& bind_figure(double value);
  bool step();  // is there a row?
  void run();   // to the end, then from the beginning with other parameters

  std::string text(int column) const;
  int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  double figure(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  void check(int code);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int parameter_ = 0;
};

// What was not committed never was; what is read in one is of one state of the file.
class Transaction {
 public:
  enum Kind { reading, writing };
  Transaction(Database& database, Kind kind) : database_(database) {
    // A writer that began as a reader might have to give up.
    database.run(kind == writing ? "BEGIN IMMEDIATE" : "BEGIN");
  }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace gdn
