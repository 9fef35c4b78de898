// The lists of calls that are tried where a case's own show nothing, cheap ones first.
#pragma once

#include <functional>
#include <vector>

#include "ci/triage/call_story.h"

namespace gdn {

// The calls of the case itself, or its tokens by steps.
Story own_story(const Case& c);

using StoryMaker = Story (*)(const Case& c, const Lab& lab);
// Each makes its story of a case of two layers or more and a token or more, without calls; one of
// no calls has nothing to say. What the engine does not serve is left out.
const std::vector<StoryMaker>& story_makers();

// Buffers alone, of a case of any layer.
Story buffers_written(const Case& c, const Lab& lab);

// Of call_stories_refused.cpp.
Story refused_calls(const Case& c, const Lab& lab);
Story refused_loads(const Case& c, const Lab& lab);
Story refused_in_a_roomy_pool(const Case& c, const Lab& lab);
Story refused_beside_both_weights(const Case& c, const Lab& lab);
Story foreign_states(const Case& c, const Lab& lab);
Story without_observe(const Case& c, const Lab& lab);

}  // namespace gdn
