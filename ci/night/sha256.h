// SHA-256 (FIPS 180-4): by it a page names the scripts that a browser may run of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gdn {

std::array<uint8_t, 32> sha256(std::string_view bytes);
std::string base64(std::string_view bytes);

}  // namespace gdn
