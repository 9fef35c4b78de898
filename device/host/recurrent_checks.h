// Every argument of recurrent but what index arrays hold, checked before anything is touched: for
// each engine that refuses in the words of device/host.
#pragma once

#include "device/gdn.h"
#include "device/host/views.h"

namespace gdn::host {

// The arguments, which the caller owns. Throws Failed.
const gdn_recurrent_args& checked(const gdn_recurrent_args* args, const BufferBytes& bytes_of);

}  // namespace gdn::host
