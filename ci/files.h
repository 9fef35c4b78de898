// Files read whole, and results written whole or not at all, so that an interrupted run never
// leaves half a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gdn {

// All bytes of a file; nothing, and *why, where it cannot be read or is a folder.
std::optional<std::string> read_bytes(const std::string& path, std::string* why);

// Why a file could not be written there, or an empty string. Leaves nothing behind.
std::string why_not_writable(const std::string& path);

// Of results that are to be written once the work is done, so that it is not done in vain: why one
// of the files could not be, or that the document has no such part; or an empty string. Empty paths
// ask for nothing.
std::string why_results_not_writable(const std::vector<std::string>& paths,
                                     const std::string& document = "",
                                     const std::string& part = "");

// Why these results, empty paths aside, would take the place of what the command reads, links and
// hard links followed, or of one another; or an empty string. Of a folder that is read, cases and
// records count.
std::string why_results_in_the_way(const std::vector<std::string>& results,
                                   const std::vector<std::string>& inputs);

// Writes beside the path, then renames; a link is followed, and a pipe or a device is written as it
// is. Returns what went wrong, or an empty string.
std::string write_whole(const std::string& path, const std::string& content);

// Replaces what stands between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->` of a file
// that exists. Returns what went wrong, or an empty string.
std::string replace_part(const std::string& path, const std::string& name,
                         const std::string& content);

// Text as one word of a shell command.
std::string shell_word(const std::string& text);

}  // namespace gdn
