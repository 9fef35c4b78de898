// An edit is lines `word: text`, then pairs of blocks, each of whole lines: `--- old`, `+++ new`.
#include "ci/kernel_mutants/source_edit.h"

#include <algorithm>
#include <map>

namespace gdn {
namespace {

constexpr std::string_view old_mark = "--- old";
constexpr std::string_view new_mark = "+++ new";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Where each word of the head goes.
std::map<std::string, std::string*, std::less<>> fields_of(SourceEdit& edit) {
  return {{"bug", &edit.bug},   {"op", &edit.op},         {"file", &edit.file},
          {"kind", &edit.kind}, {"engine", &edit.engine}, {"equivalent", &edit.equivalent}};
}

// A line of the head into its field; empty, or what is wrong with it.
std::string take_field(const std::string& line, SourceEdit& edit) {
  const auto fields = fields_of(edit);
  const size_t colon = line.find(": ");
  const auto field = fields.find(std::string_view(line).substr(0, std::min(colon, line.size())));
  if (colon == std::string::npos || field == fields.end()) {
    return "expected bug, op, file, kind, engine or equivalent, then ': ' and its text, or '" +
           std::string(old_mark) + "'";
  }
  if (!field->second->empty()) return "'" + field->first + "' is given twice";
  *field->second = line.substr(colon + 2);
  return "";
}

std::string what_is_missing(const SourceEdit& edit) {
  if (edit.bug.empty()) return "no 'bug', expected one sentence";
  if (edit.op.empty()) return "no 'op', expected an operator or host";
  if (!edit.file.starts_with("device/kernels/") && !edit.file.starts_with("device/host/")) {
    return "'file' is '" + edit.file + "', expected a path below device/kernels or device/host";
  }
  const std::vector<std::string>& kinds = edit_kinds();
  if (std::find(kinds.begin(), kinds.end(), edit.kind) == kinds.end()) {
    return "'kind' is '" + edit.kind + "', expected one of: " + listed(kinds);
  }
  if (edit.engine != "simt" && edit.engine != "simt_checked") {
    return "'engine' is '" + edit.engine + "', expected simt or simt_checked";
  }
  if (edit.replacements.empty()) return "nothing is replaced, expected '--- old'";
  return "";
}

// The blocks from line `at` on; empty, or what is wrong with them.
std::string take_replacements(const std::vector<std::string>& lines, size_t at, SourceEdit& edit) {
  bool is_old = false;
  for (; at < lines.size(); ++at) {
    const std::string where = "line " + std::to_string(at + 1) + ": ";
    if (lines[at] == old_mark) {
      if (is_old) return where + "expected '+++ new' before another '--- old'";
      edit.replacements.push_back({"", "", at + 1});
      is_old = true;
    } else if (lines[at] == new_mark) {
      if (!is_old) return where + "expected '--- old' before '+++ new'";
      if (edit.replacements.back().old_text.empty()) return where + "the old text is empty";
      is_old = false;
    } else {
      Replacement& now = edit.replacements.back();
      (is_old ? now.old_text : now.new_text) += lines[at] + "\n";
    }
  }
  return is_old ? "the last line: expected '+++ new', with nothing below it to drop lines" : "";
}

// How often whole lines `text` stand in the source, and where first.
size_t times_in(const std::string& source, const std::string& text, size_t& first) {
  size_t times = 0;
  for (size_t at = source.find(text); at != std::string::npos; at = source.find(text, at + 1)) {
    if (at > 0 && source[at - 1] != '\n') continue;
    if (times++ == 0) first = at;
  }
  return times;
}

}  // namespace

const std::vector<std::string>& edit_kinds() {
  static const std::vector<std::string> kinds = {
      "operator swapped", "bound off by one", "barrier removed", "mask wrong",
      "constant changed", "operands swapped", "index wrong",     "statement dropped",
      "type narrowed",    "order changed"};
  return kinds;
}

std::optional<SourceEdit> parse_edit(std::string_view name, std::string_view text,
                                     std::string* why) {
  SourceEdit edit;
  edit.name = name;
  const std::vector<std::string> lines = lines_of(text);
  size_t at = 0;
  for (; at < lines.size() && lines[at] != old_mark; ++at) {
    const std::string wrong = take_field(lines[at], edit);
    if (!wrong.empty()) {
      *why = "line " + std::to_string(at + 1) + ": " + wrong;
      return std::nullopt;
    }
  }
  if (edit.engine.empty()) edit.engine = "simt";
  *why = take_replacements(lines, at, edit);
  if (why->empty()) *why = what_is_missing(edit);
  if (!why->empty()) return std::nullopt;
  return edit;
}

std::optional<std::string> apply_edit(const SourceEdit& edit, std::string source,
                                      std::string* why) {
  for (const Replacement& replacement : edit.replacements) {
    size_t at = 0;
    const size_t times = times_in(source, replacement.old_text, at);
    if (times != 1) {
      *why = "the old text at line " + std::to_string(replacement.line) + " stands " +
             std::to_string(times) + " times in " + edit.file +
             ", expected once: bring the edit up to what the file says now, or remove it where "
             "the bug can no longer be made";
      return std::nullopt;
    }
    source.replace(at, replacement.old_text.size(), replacement.new_text);
  }
  return source;
}

}  // namespace gdn
