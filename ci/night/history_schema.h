// The tables of a history, and how older ones become these. docs/history.md shows them.
#pragma once

#include "ci/night/database.h"

namespace gdn {

inline constexpr int history_version = 3;

// Makes the file a history, or an older history one of this version; throws where it is neither.
void bring_up_to_date(Database& database);

}  // namespace gdn
