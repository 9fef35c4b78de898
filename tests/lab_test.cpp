// The Lab: engines that misbehave are seen to, and the model of an engine's life is worked by hand.
#include "invariants/harness/lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "invariants/harness/guarded.h"
#include "tests/case_files.h"

namespace gdn {
namespace {

using testing::HasSubstr;

const gdn_api& twin_api() {
  std::string why;
  static const gdn_api api = *find_engine("twin", &why)->api;
  return api;
}

Lab lab_of(const gdn_api& api) {
  std::string why;
  std::optional<EngineSource> engine = use_engine("patched", &api, &why);
  EXPECT_TRUE(engine.has_value()) << why;
  return Lab(*std::move(engine));
}

Case seed(const std::string& name) {
  std::string why;
  const std::string text =
      file_text(std::filesystem::path(SOURCE_DIR) / "corpus" / "seeds" / (name + ".case"));
  const std::optional<Case> c = parse_case(text, &why);
  EXPECT_TRUE(c.has_value()) << name << ": " << why;
  return *c;
}

// The smallest seed's stream with every tensor read after each token.
Case stepped() {
  const Case c = seed("layer/smallest");
  return c.with_calls(stepped_calls(c));
}

TEST(Guarded, PoisonsOutputsAndSeesWritesAroundThem) {
  Guarded<float> out(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(out.data()[i]));
  EXPECT_TRUE(out.intact());
  out.data()[2] = 1;
  EXPECT_TRUE(out.intact());
  out.data()[3] = 1;
  EXPECT_FALSE(out.intact());
  Guarded<float> before(3);
  before.data()[-1] = 0;
  EXPECT_FALSE(before.intact());
}

TEST(Guarded, SeesWritesIntoInputs) {
  const std::vector<float> numbers = {1, 2};
  Guarded<float> in{std::span<const float>(numbers)};
  EXPECT_TRUE(in.holds(numbers));
  in.data()[1] = 3;
  EXPECT_TRUE(in.intact());
  EXPECT_FALSE(in.holds(numbers));
}

TEST(Conduct, OfTheTwinIsGood) {
  const Observation seen = lab_of(twin_api()).run(stepped());
  EXPECT_TRUE(seen.served().holds()) << seen.served().detail;
  ASSERT_EQ(seen.calls.size(), 4U);
  EXPECT_EQ(seen.calls.back().reads.size(), size_t{tensor_count});
  EXPECT_EQ(seen.calls.back().out, seen.calls.back().reads.at(Tensor::OUT));
}

TEST(Conduct, AWriteBeforeOutIsSeen) {
  gdn_api api = twin_api();
  api.step = [](gdn_engine* e, int64_t layer, const float* h, float* out) {
    out[-1] = 0;
    return twin_api().step(e, layer, h, out);
  };
  const Verdict conduct = lab_of(api).run(stepped()).conduct;
  EXPECT_EQ(conduct.outcome, Outcome::fails);
  EXPECT_THAT(conduct.detail, HasSubstr("call 2, step: it wrote outside out"));
}

TEST(Conduct, AWriteIntoTheInputIsSeen) {
  gdn_api api = twin_api();
  api.step = [](gdn_engine* e, int64_t layer, const float* h, float* out) {
    const gdn_status status = twin_api().step(e, layer, h, out);
    const_cast<float*>(h)[0] += 1;
    return status;
  };
  EXPECT_THAT(lab_of(api).run(stepped()).conduct.detail, HasSubstr("it wrote into h"));
}

TEST(Conduct, AWriteIntoTheWeightsIsSeen) {
  gdn_api api = twin_api();
  api.load_layer_f32 = [](gdn_engine* e, int64_t layer, const gdn_layer_weights* w) {
    const gdn_status status = twin_api().load_layer_f32(e, layer, w);
    const_cast<float*>(w->norm)[0] += 1;
    return status;
  };
  EXPECT_THAT(lab_of(api).run(stepped()).conduct.detail, HasSubstr("wrote into the weights"));
}

TEST(Conduct, AReadBeyondItsDestinationIsSeen) {
  gdn_api api = twin_api();
  api.read = [](gdn_engine* e, int64_t layer, gdn_tensor t, float* dst, int64_t n, int64_t* count) {
    const gdn_status status = twin_api().read(e, layer, t, dst, n, count);
    if (dst != nullptr && t == GDN_BETA) dst[n] = 0;
    return status;
  };
  EXPECT_THAT(lab_of(api).run(stepped()).conduct.detail,
              HasSubstr("read of BETA wrote outside its destination"));
}

TEST(Conduct, AnOperatorThatWritesIntoItsInputIsSeen) {
  gdn_api api = twin_api();
  api.apply = [](gdn_engine* e, gdn_operator op, const gdn_shape* s, const gdn_array* in, size_t n,
                 const gdn_array* out, size_t m) {
    const gdn_status status = twin_api().apply(e, op, s, in, n, out, m);
    static_cast<float*>(in[0].data)[0] = 7;
    return status;
  };
  EXPECT_EQ(lab_of(api).run(seed("gates/smooth")).conduct.outcome, Outcome::fails);
}

TEST(Conduct, ARecurrenceThatWritesBesideItsSlotIsSeen) {
  gdn_api api = twin_api();
  api.recurrent = [](gdn_engine* e, const gdn_recurrent_args* args) {
    const gdn_status status = twin_api().recurrent(e, args);
    const float zero = 0;  // the first element of the gap after slot 0
    const int64_t states = args->num_v_heads * args->head_k_dim * args->head_v_dim;
    twin_api().buffer_write(e, args->state.buffer,
                            static_cast<uint64_t>(args->state.offset + states) * 4, &zero, 4);
    return status;
  };
  EXPECT_THAT(lab_of(api).run(seed("recurrent/in_a_pool")).conduct.detail,
              HasSubstr("recurrent wrote outside its slot"));
  EXPECT_TRUE(lab_of(twin_api()).run(seed("recurrent/in_a_pool")).served().holds());
}

TEST(Conduct, AnOutputThatNobodyWroteIsNotANumber) {
  gdn_api api = twin_api();
  api.step = [](gdn_engine* e, int64_t layer, const float* h, float*) {
    std::vector<float> elsewhere(8);
    return twin_api().step(e, layer, h, elsewhere.data());
  };
  const Observation seen = lab_of(api).run(stepped());
  EXPECT_TRUE(seen.served().holds());
  for (const float x : seen.calls.back().out) EXPECT_TRUE(std::isnan(x));
}

TEST(Conduct, ARefusedCallIsReportedInTheEnginesOwnWords) {
  gdn_api api = twin_api();
  api.step = [](gdn_engine* e, int64_t layer, const float*, float* out) {
    return twin_api().step(e, layer, nullptr, out);
  };
  const Verdict served = lab_of(api).run(stepped()).served();
  EXPECT_EQ(served.outcome, Outcome::engine_error);
  gdn_api closed = twin_api();
  closed.open = [](const gdn_shape*, const gdn_options*, gdn_engine**) {
    return GDN_NOT_AVAILABLE;
  };
  const Observation seen = lab_of(closed).run(stepped());
  EXPECT_EQ(seen.conduct.outcome, Outcome::engine_error);
  EXPECT_THAT(seen.conduct.detail, HasSubstr("open: GDN_NOT_AVAILABLE"));
}

TEST(Lab, AnEngineWithoutACallDoesNotServeCasesThatNeedIt) {
  gdn_api api = twin_api();
  api.describe = [] {
    return R"({"name": "small", "dialect": {}, "contract": {}, "capabilities": {
               "calls": ["open", "close", "load_layer_f32", "step", "read"]}})";
  };
  api.apply = nullptr;
  api.dequant = nullptr;
  api.snapshot = nullptr;
  const Lab lab = lab_of(api);
  EXPECT_EQ(lab.why_not(seed("layer/smallest")), "");
  EXPECT_EQ(lab.why_not(seed("layer/rollback")), "it has no snapshot");
  EXPECT_EQ(lab.why_not(seed("gates/smooth")), "its apply does not serve gates");
  EXPECT_EQ(lab.why_not(seed("dequant/wide")), "it has no dequant");
  EXPECT_EQ(lab.run(seed("dequant/wide")).conduct.outcome, Outcome::not_applicable);
}

TEST(Lab, AnotherDialectIsNotServed) {
  Case c = seed("layer/smallest");
  c.dialect.head_map = Dialect::HeadMap::tiled;
  EXPECT_THAT(lab_of(twin_api()).why_not(c), HasSubstr("dialect"));
  c.dialect.head_map = Dialect::HeadMap::grouped;
  c.dialect.output_storage = Format::bf16;  // an output of a layer is float32
  EXPECT_THAT(lab_of(twin_api()).why_not(c), HasSubstr("dialect"));
  c.dialect.output_storage = Format::f32;
  Case rule = seed("delta_rule/smooth");
  rule.dialect.output_storage = Format::f16;
  EXPECT_THAT(lab_of(twin_api()).why_not(rule), HasSubstr("its delta_rule does not"));
  c.dialect.padding = Dialect::Padding::not_allowed;  // of pools: no matter to a layer
  EXPECT_EQ(lab_of(twin_api()).why_not(c), "");
}

TEST(Lab, AnOperatorOfOtherConventionsIsNotServed) {
  Case gates = seed("gates/smooth");
  gates.dialect.beta = Dialect::Beta::bf16;
  EXPECT_THAT(lab_of(twin_api()).why_not(gates), HasSubstr("gates"));
  Case norms = seed("qk_norm/smooth");
  norms.dialect.qk_norm = Dialect::QkNorm::mean_eps;
  EXPECT_THAT(lab_of(twin_api()).why_not(norms), HasSubstr("qk_norm"));
  Case conv = seed("conv/smooth");
  conv.dialect.qk_norm = Dialect::QkNorm::mean_eps;  // no matter to a conv
  EXPECT_EQ(lab_of(twin_api()).why_not(conv), "");
}

TEST(Lab, ALayerOfACaptureGivesWhatTheSameCaseGives) {
  const Case c = stepped();
  std::string why;
  const Numbers numbers = *materialise(c, &why);
  LayerInputs inputs;
  inputs.shape = c.shape;
  inputs.weights = view_of(numbers.layers[0], c.shape);
  inputs.h = numbers.h;
  const Lab lab = lab_of(twin_api());
  const LayerRun run = lab.run_layer(inputs);
  EXPECT_TRUE(run.conduct.holds()) << run.conduct.detail;
  const Observation seen = lab.run(c);
  ASSERT_EQ(run.seen.size(), 3U);
  for (size_t t = 0; t < 3; ++t) {
    for (const auto& [tensor, values] : run.seen[t]) {
      EXPECT_TRUE(same_bits(name_of(tensor), values, seen.calls[t + 1].reads.at(tensor)).holds());
    }
  }
}

TEST(Lab, AnExportedStateIsObservedAsNumbers) {
  Case c = stepped();
  Call exported;
  exported.kind = CallKind::state_export;
  c.calls.push_back(exported);
  const Observation seen = lab_of(twin_api()).run(c);
  ASSERT_TRUE(seen.served().holds()) << seen.served().detail;
  const CallObserved& last_step = seen.calls[seen.calls.size() - 2];
  std::vector<float> want = last_step.reads.at(Tensor::S);
  const std::vector<float>& history = last_step.reads.at(Tensor::HIST);
  want.insert(want.end(), history.begin(), history.end());
  EXPECT_TRUE(same_bits("state", seen.calls.back().arrays.at("state"), want).holds());
  EXPECT_EQ(seen.calls.back().bytes.size(), 56U) << "magic, version and six dimensions";
}

TEST(FindEngine, AnUnknownNameIsAnsweredWithThoseThatThereAre) {
  std::string why;
  EXPECT_FALSE(find_engine("triplet", &why));
  EXPECT_THAT(why, HasSubstr("no engine \"triplet\""));
  EXPECT_THAT(why, HasSubstr(" twin"));
  EXPECT_FALSE(find_engine("mutant:nobody", &why));
  EXPECT_THAT(why, HasSubstr("mutant:error_before_decay"));
  EXPECT_FALSE(find_engine("./not_there.so", &why));
  EXPECT_THAT(why, HasSubstr("./not_there.so: cannot be loaded"));
}

TEST(FindEngine, ATableOfAnotherVersionOrSizeIsRefused) {
  gdn_api api = twin_api();
  EXPECT_EQ(why_unusable(&api), "");
  api.abi_version = 2;
  EXPECT_EQ(why_unusable(&api), "interface version 2, expected 1 (abi_version)");
  api = twin_api();
  api.struct_size -= 8;
  EXPECT_THAT(why_unusable(&api), HasSubstr("struct_size"));
  api = twin_api();
  api.name = "Twin!";
  EXPECT_THAT(why_unusable(&api), HasSubstr("a name that is not of a-z"));
  api = twin_api();
  api.last_error = nullptr;
  EXPECT_EQ(why_unusable(&api), "no last_error, which every engine needs");
  EXPECT_EQ(why_unusable(nullptr), "no table");
  api = twin_api();
  api.describe = [] { return "{}"; };
  std::string why;
  EXPECT_FALSE(use_engine("odd", &api, &why));
  EXPECT_THAT(why, HasSubstr("engine odd: name: expected"));
}

TEST(Expectations, OfEachTokenAndNothingOfARefusedCall) {
  const Lab lab = lab_of(twin_api());
  const Case c = seed("layer/pool_rebuilt");
  const Expectation& want = lab.expect(c);
  ASSERT_EQ(want.calls.size(), c.calls.size());
  EXPECT_EQ(want.calls[6].tokens.size(), 1U);
  EXPECT_EQ(want.calls[6].reads.size(), size_t{tensor_count});
  EXPECT_TRUE(want.calls[11].refused);
  EXPECT_TRUE(want.calls[11].tokens.empty());
  EXPECT_EQ(want.calls[13].reads.size(), 2U);  // S and HIST, zero after the reset
  for (const double x : want.calls[13].reads.at(Tensor::S).value) EXPECT_EQ(x, 0);
  EXPECT_EQ(&lab.expect(c), &want) << "an expectation is worked out once";
}

}  // namespace
}  // namespace gdn
