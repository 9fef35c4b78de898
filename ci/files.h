// Writing results: whole or not at all, so that an interrupted run never leaves half a file.
#pragma once

#include <string>
#include <vector>

#include "ci/exit_status.h"

namespace gdn {

// Why a file could not be written there, or an empty string. Leaves nothing behind.
std::string why_not_writable(const std::string& path);

// Of results that are to be written once the work is done, so that it is not done in vain: a line
// and exit_infrastructure if one of the files cannot be, or the document has no such part. Empty
// paths ask for nothing.
ExitStatus refuse_unwritable(const std::vector<std::string>& paths,
                             const std::string& document = "", const std::string& part = "");

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
