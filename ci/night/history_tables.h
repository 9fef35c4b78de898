// What History does, on an open file. These throw DatabaseError.
#pragma once

#include "ci/night/database.h"
#include "ci/night/history.h"

namespace gdn {

Stored store_night(Database& database, const Night& night);
std::vector<PrunedNight> prune_nights(Database& database, const PruneRule& rule);
std::optional<Night> read_night(Database& database, const std::string& id);
HistoryView read_view(Database& database, size_t nights_max);
// Every group of findings of all nights, also of those that were pruned: new ones first, then
// known, then fixed, each by when they were last seen.
std::vector<KnownFinding> read_known_findings(Database& database);

}  // namespace gdn
