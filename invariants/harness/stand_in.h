// What a program puts before the tables of engines, to see their calls.
#pragma once

#include "device/gdn.h"

namespace gdn {

// Of every engine that is found from now on, the table that is used in place of its own.
void stand_in_for_tables(const gdn_api* (*stand_in)(const gdn_api*));

}  // namespace gdn
