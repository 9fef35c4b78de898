// SHA-256: 64 rounds over blocks of 64 bytes; and base64 of RFC 4648.
#include "ci/night/sha256.h"

#include <bit>
#include <cmath>
#include <vector>

namespace gdn {
namespace {

__extension__ typedef unsigned __int128 Wide;

// The first 32 bits of the fractional part of a prime's root, which is exact in 64-bit integers:
// the largest r with r^degree <= prime * 2^(32 degree).
uint32_t fraction_of_root(uint64_t prime, int degree) {
  Wide root = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const Wide tried = root | (static_cast<Wide>(1) << bit);
    Wide power = tried * tried;
    if (degree == 3) power *= tried;
    if (power <= static_cast<Wide>(prime) << (32 * degree)) root = tried;
  }
  return static_cast<uint32_t>(root);
}

std::array<uint32_t, 64> primes() {
  std::array<uint32_t, 64> found = {};
  size_t count = 0;
  for (uint32_t number = 2; count < found.size(); ++number) {
    bool prime = true;
    for (size_t i = 0; i < count; ++i) prime = prime && number % found[i] != 0;
    if (prime) found[count++] = number;
  }
  return found;
}

std::string padded(std::string_view bytes) {
  std::string text(bytes);
  text += '\x80';
  while (text.size() % 64 != 56) text += '\0';
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(bits >> shift);
  return text;
}

std::array<uint32_t, 64> schedule_of(std::string_view block) {
  std::array<uint32_t, 64> w = {};
  for (size_t i = 0; i < block.size(); ++i) {
    w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  return w;
}

void add_block(std::string_view block, const std::array<uint32_t, 64>& constants,
               std::array<uint32_t, 8>& hash) {
  const std::array<uint32_t, 64> w = schedule_of(block);
  std::array<uint32_t, 8> s = hash;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t e = s[4], a = s[0];
    const uint32_t one = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
    const uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                         ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    s = {one + two, s[0], s[1], s[2], s[3] + one, s[4], s[5], s[6]};
  }
  for (size_t i = 0; i < 8; ++i) hash[i] += s[i];
}

}  // namespace

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  const std::array<uint32_t, 64> prime = primes();
  std::array<uint32_t, 64> constants = {};
  std::array<uint32_t, 8> hash = {};
  for (size_t i = 0; i < 64; ++i) constants[i] = fraction_of_root(prime[i], 3);
  for (size_t i = 0; i < 8; ++i) hash[i] = fraction_of_root(prime[i], 2);
  const std::string text = padded(bytes);
  for (size_t at = 0; at < text.size(); at += 64) {
    add_block(std::string_view(text).substr(at, 64), constants, hash);
  }
  std::array<uint8_t, 32> out = {};
  for (size_t i = 0; i < 32; ++i) {
    out[i] = static_cast<uint8_t>(hash[i / 4] >> (24 - 8 * (i % 4)));
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t here = std::min<size_t>(3, bytes.size() - at);
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i) {
      three = three << 8 | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) out += i <= here ? digits[three >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

}  // namespace gdn
