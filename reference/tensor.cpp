// Names, sizes and origins of the tensors, one table row each.
#include "reference/tensor.h"

#include <array>

namespace gdn {
namespace {

struct TensorRow {
  std::string_view name;
  Operator made_by;
  int64_t (*count)(const Shape&);
};

// In the order of the enumeration.
constexpr std::array<TensorRow, tensor_count> tensors{{
    {"QKV", Operator::in_proj, [](const Shape& s) { return s.conv_dim(); }},
    {"Z", Operator::in_proj, [](const Shape& s) { return s.v_dim(); }},
    {"A", Operator::in_proj, [](const Shape& s) { return s.num_v_heads; }},
    {"B", Operator::in_proj, [](const Shape& s) { return s.num_v_heads; }},
    {"BETA", Operator::gates, [](const Shape& s) { return s.num_v_heads; }},
    {"G", Operator::gates, [](const Shape& s) { return s.num_v_heads; }},
    {"CONV", Operator::conv, [](const Shape& s) { return s.conv_dim(); }},
    {"Q", Operator::qk_norm, [](const Shape& s) { return s.k_dim(); }},
    {"K", Operator::qk_norm, [](const Shape& s) { return s.k_dim(); }},
    {"V", Operator::conv, [](const Shape& s) { return s.v_dim(); }},
    {"O", Operator::delta_rule, [](const Shape& s) { return s.v_dim(); }},
    {"ONORM", Operator::gated_norm, [](const Shape& s) { return s.v_dim(); }},
    {"OUT", Operator::out_proj, [](const Shape& s) { return s.hidden_size; }},
    {"S", Operator::delta_rule, [](const Shape& s) { return s.state_count(); }},
    {"HIST", Operator::conv, [](const Shape& s) { return s.history_count(); }},
}};

constexpr std::array<std::string_view, 8> operators{
    "in_proj", "gates", "conv", "qk_norm", "delta_rule", "gated_norm", "out_proj", "dequant"};

const TensorRow& row_of(Tensor tensor) { return tensors[static_cast<size_t>(tensor)]; }

}  // namespace

std::string_view name_of(Tensor tensor) { return row_of(tensor).name; }

std::optional<Tensor> tensor_named(std::string_view name) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return static_cast<Tensor>(i);
  }
  return std::nullopt;
}

std::set<Tensor> every_tensor() {
  std::set<Tensor> all;
  for (int i = 0; i < tensor_count; ++i) all.insert(static_cast<Tensor>(i));
  return all;
}

int64_t element_count(Tensor tensor, const Shape& shape) { return row_of(tensor).count(shape); }

std::string_view name_of(Operator op) { return operators[static_cast<size_t>(op)]; }

std::optional<Operator> operator_named(std::string_view name) {
  for (size_t i = 0; i < operators.size(); ++i) {
    if (operators[i] == name) return static_cast<Operator>(i);
  }
  return std::nullopt;
}

Operator operator_of(Tensor tensor) { return row_of(tensor).made_by; }

}  // namespace gdn
