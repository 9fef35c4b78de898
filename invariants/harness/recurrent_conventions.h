// Conventions of a dialect as the C ABI spells them, and numbers as buffers hold them. Internal to
// RecurrentSession.
#pragma once

#include <cstdint>
#include <vector>

#include "device/gdn.h"
#include "reference/bound.h"
#include "reference/dialect.h"

namespace gdn {

gdn_format c_format(Format format);
gdn_qk_norm_form c_norm(Dialect::QkNorm norm);
gdn_sequence_coding c_coding(Dialect::SequenceCoding coding);
gdn_state_writes c_writes(Dialect::StateWrites writes);
gdn_padding c_padding(Dialect::Padding padding);

size_t bytes_of(Format format);
std::vector<uint8_t> stored(const std::vector<float>& numbers, Format format);
std::vector<float> loaded(const std::vector<uint8_t>& bytes, Format format);

}  // namespace gdn
