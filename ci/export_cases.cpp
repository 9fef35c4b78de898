// The arrays of a case under the names that they have in the file, and their expected values.
#ifdef __FAST_MATH__
#error "exported bounds need IEEE arithmetic: build without fast math"
#endif

#include "ci/export_cases.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/commands.h"
#include "ci/safetensors_writer.h"
#include "ci/state_layout.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Extents = std::vector<int64_t>;
using json = nlohmann::ordered_json;

// a + b rounded up for side 1, down for side -1: the error of the rounded sum says which way it
// went (Knuth's two-sum).
double sum_outward(double a, double b, double side) {
  const double sum = a + b;
  const double from_b = sum - a;
  const double error = (a - (sum - from_b)) + (b - from_b);
  return error * side > 0 ? std::nextafter(sum, side * infinity) : sum;
}

// As the dialect lays a state out.
template <class Number>
std::vector<Number> in_layout(const std::vector<Number>& canonical, const Case& c) {
  const bool turned = c.dialect.state_layout == Dialect::StateLayout::vk;
  return turned ? put_as_vk(canonical, c.shape) : canonical;
}

Extents state_extents(const Case& c) {
  const Shape& s = c.shape;
  const bool kv = c.dialect.state_layout == Dialect::StateLayout::kv;
  Extents extents;
  if (c.pool.states > 1) extents.push_back(c.pool.states);
  for (const int64_t extent :
       {s.num_v_heads, kv ? s.head_k_dim : s.head_v_dim, kv ? s.head_v_dim : s.head_k_dim}) {
    extents.push_back(extent);
  }
  return extents;
}

Extents of_operator(const Case& c, const std::string& name, size_t count) {
  const Shape& s = c.shape;
  Extents extents;
  if (c.subject == Subject::recurrent) extents.push_back(c.tokens);
  const auto with = [&](std::initializer_list<int64_t> more) {
    extents.insert(extents.end(), more);
    return extents;
  };
  if (name == "S") return state_extents(c);
  if (name == "hist") return {s.conv_kernel - 1, s.conv_dim()};
  if (c.subject == Subject::conv && name == "weight") return {s.conv_dim(), s.conv_kernel};
  if (name == "weight" && c.rows > 0) return {c.rows, c.cols};
  if (c.subject == Subject::dequant) return {c.rows, c.cols};
  if (name == "q" || name == "k") return with({s.num_k_heads, s.head_k_dim});
  const bool heads = c.subject != Subject::conv && c.subject != Subject::in_proj &&
                     c.subject != Subject::out_proj && c.subject != Subject::gates;
  const bool per_channel = c.dialect.decay != Dialect::Decay::second_scalar;
  if (name == "gk" && per_channel) return with({s.num_v_heads, s.head_k_dim});
  if (heads && (name == "v" || name == "o" || name == "z" || name == "y")) {
    return with({s.num_v_heads, s.head_v_dim});
  }
  if (heads && name != "weight") return with({s.num_v_heads});
  return {static_cast<int64_t>(count)};
}

class Export {
 public:
  Export(SafetensorsWriter& file, const Case& c) : file_(file), case_(c), name_(hash8(c)) {}

  void inputs(const Numbers& numbers) {
    for (const auto& [name, array] : numbers.arrays) {
      const Extents extents = of_operator(case_, name, array.size());
      put(name, extents, name == "S" ? in_layout(array, case_) : array);
    }
    if (!numbers.tiles.empty()) tiles("tiles", numbers.tiles);
    if (!numbers.layers.empty()) layer(numbers);
  }

  void want(const std::string& name, const Extents& extents, const Bounded& bounded) {
    std::vector<double> values(bounded.size());
    std::vector<double> bounds(bounded.size());
    for (size_t i = 0; i < bounded.size(); ++i) {
      const Checkable element = checkable(bounded, i);
      values[i] = element.value;
      bounds[i] = element.bound;
    }
    const bool state = name == "S";
    file_.add(name_ + "/want/" + name, extents, state ? in_layout(values, case_) : values);
    file_.add(name_ + "/bound/" + name, extents, state ? in_layout(bounds, case_) : bounds);
  }

  void operator_wants(const Expectation& expectation) {
    for (const auto& [name, bounded] : expectation.calls.at(0).arrays) {
      want(name, of_operator(case_, name, bounded.size()), bounded);
    }
  }

  // Tokens in turn from a zero state, through layer 0: every tensor of each, and the last state.
  void layer_wants(const Expectation& expectation) {
    std::map<Tensor, Bounded> all;
    int64_t tokens = 0;
    for (const CallExpectation& call : expectation.calls) {
      for (const TokenExpectation& token : call.tokens) {
        ++tokens;
        for (const auto& [tensor, bounded] : token) {
          Bounded& to = all[tensor];
          if (tensor == Tensor::S || tensor == Tensor::HIST) to = {};
          append(bounded, to);
        }
      }
    }
    for (const auto& [tensor, bounded] : all) {
      Extents extents = state_extents(case_);
      if (tensor == Tensor::HIST) {
        extents = {case_.shape.conv_kernel - 1, case_.shape.conv_dim()};
      } else if (tensor != Tensor::S) {
        extents = {tokens, static_cast<int64_t>(bounded.size()) / tokens};
      }
      want(std::string(name_of(tensor)), extents, bounded);
    }
  }

  json description() const {
    const Shape& s = case_.shape;
    json dialect = json::object();
    for (const std::string_view dimension : dialect_dimensions()) {
      dialect[std::string(dimension)] = get_dimension(case_.dialect, dimension);
    }
    return {{"name", name_},
            {"subject", name_of(case_.subject)},
            {"tokens", case_.tokens},
            {"shape",
             {{"hidden_size", s.hidden_size},
              {"num_k_heads", s.num_k_heads},
              {"head_k_dim", s.head_k_dim},
              {"num_v_heads", s.num_v_heads},
              {"head_v_dim", s.head_v_dim},
              {"conv_kernel", s.conv_kernel},
              {"rms_norm_eps", s.rms_norm_eps},
              {"l2norm_eps", s.l2norm_eps}}},
            {"dialect", dialect},
            {"text", print(case_)}};
  }

 private:
  static void append(const Bounded& from, Bounded& to) {
    for (const Tolerated& t : from.tolerated) {
      to.tolerated.push_back({t.index + to.value.size(), t.result, t.why});
    }
    to.stored = from.stored;
    for (size_t i = 0; i < from.size(); ++i) {
      to.value.push_back(from.value[i]);
      to.bound.push_back(from.bound_of(i));
    }
  }

  void put(const std::string& name, const Extents& extents, const std::vector<float>& numbers) {
    file_.add(name_ + "/in/" + name, extents, numbers);
  }

  void tiles(const std::string& name, const std::vector<uint8_t>& bytes) {
    file_.add(name_ + "/in/" + name, {static_cast<int64_t>(bytes.size())}, bytes);
  }

  void layer(const Numbers& numbers) {
    const Shape& s = case_.shape;
    const LayerNumbers& n = numbers.layers.front();
    const auto matrix = [&](const std::string& name, Extents extents, const auto& f32,
                            const auto& q4) {
      if (q4.empty()) return put(name, extents, f32);
      tiles(name + "_tiles", q4);
    };
    matrix("qkv", {s.conv_dim(), s.hidden_size}, n.qkv, n.qkv_tiles);
    matrix("z", {s.v_dim(), s.hidden_size}, n.z, n.z_tiles);
    matrix("out", {s.hidden_size, s.v_dim()}, n.out, n.out_tiles);
    put("b", {s.num_v_heads, s.hidden_size}, n.b);
    put("a", {s.num_v_heads, s.hidden_size}, n.a);
    put("conv", {s.conv_dim(), s.conv_kernel}, n.conv);
    put("A_log", {s.num_v_heads}, n.A_log);
    put("dt_bias", {s.num_v_heads}, n.dt_bias);
    put("norm", {s.head_v_dim}, n.norm);
    std::vector<float> stream;
    for (const std::vector<float>& h : numbers.h) stream.insert(stream.end(), h.begin(), h.end());
    put("h", {case_.tokens, s.hidden_size}, stream);
  }

  SafetensorsWriter& file_;
  const Case& case_;
  const std::string name_;
};

}  // namespace

std::string why_not_exported(const Case& c) {
  std::string why;
  if (!materialise(c, &why)) return why;
  if (c.subject == Subject::layer) return why_invalid(c.with_calls(stepped_calls(c)));
  if (c.calls.empty()) return "";
  return "it lists calls of its own, and what they give is not known array by array";
}

Checkable checkable(const Bounded& want, size_t index) {
  const double value = want.value[index];
  const double bound = want.bound_of(index);
  for (const Tolerated& t : want.tolerated) {
    if (t.index == index) return {value, infinity};
  }
  if (want.stored == Format::f32 || !std::isfinite(value) || !std::isfinite(bound)) {
    return {value, bound};
  }
  const double low = round_to(want.stored, sum_outward(value, -bound, -1));
  const double high = round_to(want.stored, sum_outward(value, bound, 1));
  if (!std::isfinite(low) || !std::isfinite(high)) return {value, infinity};
  const double middle = low + (high - low) / 2;
  return {middle, std::max(sum_outward(middle, -low, 1), sum_outward(high, -middle, 1))};
}

std::string exported(const std::vector<Case>& cases, const Lab& lab) {
  SafetensorsWriter file;
  json described = json::array();
  for (const Case& c : cases) {
    std::string why;
    const std::optional<Numbers> numbers = materialise(c, &why);
    if (!numbers) continue;
    Export one(file, c);
    one.inputs(*numbers);
    if (c.subject == Subject::layer) {
      one.layer_wants(lab.expect(c.with_calls(stepped_calls(c))));
    } else {
      one.operator_wants(lab.expect(c));
    }
    described.push_back(one.description());
  }
  file.describe("format", "gdn-cases-1");
  file.describe("source", version_text());
  file.describe("contract", lab.contract().name);
  file.describe("cases", described.dump());
  return file.content();
}

}  // namespace gdn
