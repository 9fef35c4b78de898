// The engine over one kind of device, as a table of the C ABI.
#pragma once

#include <memory>
#include <string>

#include "device/gdn.h"
#include "device/host/backend.h"

namespace gdn::host {

// GDN_NOT_AVAILABLE where there is no such device here.
using MakeBackend = Status (*)(const BackendOptions& options, std::unique_ptr<Backend>* backend);

gdn_status host_open(MakeBackend make, const gdn_shape* shape, const gdn_options* options,
                     gdn_engine** engine);

using OpenFunction = gdn_status (*)(const gdn_shape*, const gdn_options*, gdn_engine**);
using DescribeFunction = const char* (*)();
gdn_api host_api(const char* name, OpenFunction open, DescribeFunction describe);

// What an engine of this name says of itself, in the words of docs/engine-description.md.
std::string host_description(const char* name);

// The table of an engine whose devices `make` gives. `name` is a constant with static storage.
template <const char* name, MakeBackend make>
const gdn_api& host_engine() {
  static const std::string description = host_description(name);
  static const gdn_api api = host_api(
      name,
      [](const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
        return host_open(make, shape, options, engine);
      },
      [] { return description.c_str(); });
  return api;
}

}  // namespace gdn::host
