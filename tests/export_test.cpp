// `deltaproof export`: what it writes is what is judged here, the same for ever, and a suite in
// Python finds a right engine right and a wrong one wrong by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/export_cases.h"
#include "invariants/harness/safetensors.h"
#include "invariants/harness/verdict.h"
#include "reference/formats.h"
#include "reference/rng.h"
#include "tests/case_files.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;

Bounded bounded(double value, double bound, Format stored = Format::f32) {
  Bounded want;
  want.value = {value};
  want.bound = {bound};
  want.stored = stored;
  return want;
}

bool reader_accepts(const Checkable& c, float got) {
  return std::isfinite(got) && std::abs(static_cast<double>(got) - c.value) <= c.bound;
}

TEST(Export, OfFloat32KeepsValueAndBound) {
  const Checkable c = checkable(bounded(0.1, 1e-9), 0);
  EXPECT_EQ(c.value, 0.1);
  EXPECT_EQ(c.bound, 1e-9);
}

TEST(Export, OfANarrowTypeAcceptsExactlyTheNumbersThatAreRight) {
  Rng rng(1);
  size_t accepted = 0;
  size_t refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const Format format = i % 2 == 0 ? Format::bf16 : Format::f16;
    const double value =
        std::ldexp(static_cast<double>(rng.signed_unit()), static_cast<int>(rng.range(-20, 10)));
    const double bound = rng.range(0, 3) == 0 ? 0 : std::abs(value) * std::ldexp(rng.unit(), -8);
    const Bounded want = bounded(value, bound, format);
    const Checkable c = checkable(want, 0);
    const double near = round_to(format, value);
    const auto bits =
        static_cast<int>(format == Format::f16 ? f16_encode(near) : bf16_encode(near));
    for (int step = -3; step <= 3; ++step) {
      const auto at = static_cast<uint16_t>(bits + step);
      const float got = format == Format::f16 ? f16_decode(at) : bf16_decode(at);
      const bool right = within("o", std::span(&got, 1), want).holds();
      EXPECT_EQ(reader_accepts(c, got), right) << value << " +- " << bound << ": " << got;
      ++(right ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, 4000U);
  EXPECT_GT(refused, 4000U);
}

TEST(Export, LeavesUndecidedWhatIsToleratedOrMayOverflow) {
  Bounded want = bounded(1, 0.5);
  want.tolerated = {{0, INFINITY, "overflow"}};
  EXPECT_EQ(checkable(want, 0).bound, infinity);
  EXPECT_EQ(checkable(bounded(65519, 10, Format::f16), 0).bound, infinity);
  EXPECT_TRUE(std::isnan(checkable(bounded(NAN, 0, Format::f16), 0).value));
}

class ExportCli : public ProgramTest {
 protected:
  Ran export_to(const std::string& name, const std::string& arguments) const {
    return run("export " + arguments + " --out " + path(name));
  }
  Ran python(const std::string& script, const std::string& arguments) const {
    return run_line("PYTHONDONTWRITEBYTECODE=1 " + std::string(PYTHON) +
                    " " SOURCE_DIR "/docs/python/" + script + " " + arguments + " 2>&1");
  }
};

TEST_F(ExportCli, IsTheSameBytesEveryTimeAndAllSubjectsAreInIt) {
  ASSERT_EQ(export_to("one", "--cases 60 --seed 5").status, 0);
  ASSERT_EQ(export_to("two", "--cases 60 --seed 5").status, 0);
  EXPECT_EQ(content("one"), content("two"));
  // Cases of the recurrence that list calls of their own have no values array by array.
  std::string seeds;
  for (const CorpusFile& seed : case_files("seeds")) {
    const bool lists = seed.content.subject == Subject::recurrent && !seed.content.calls.empty();
    if (!lists) seeds += " " SOURCE_DIR "/corpus/" + seed.name;
  }
  ASSERT_EQ(export_to("seeds", seeds).status, 0);
  std::string why;
  const auto file = Safetensors::open(path("seeds"), &why);
  ASSERT_TRUE(file) << why;
  std::set<std::string> subjects;
  for (const auto& c : nlohmann::json::parse(file->metadata().at("cases"))) {
    subjects.insert(c.at("subject"));
    const std::string name = c.at("name");
    const auto belongs = [&](const StoredTensor& t) { return t.name.starts_with(name + "/"); };
    EXPECT_TRUE(std::any_of(file->tensors().begin(), file->tensors().end(), belongs)) << name;
  }
  EXPECT_EQ(subjects,
            (std::set<std::string>{"conv", "delta_rule", "dequant", "gated_norm", "gates",
                                   "in_proj", "layer", "out_proj", "qk_norm", "recurrent"}));
}

TEST_F(ExportCli, ASuiteInNumpyHoldsAndAPlantedFaultDoesNot) {
  ASSERT_EQ(export_to("cases", "--cases 300").status, 0);
  const Ran right = python("example_suite.py", path("cases"));
  EXPECT_EQ(right.status, 0) << right.output;
  EXPECT_THAT(right.output, HasSubstr(" 0 wrong"));
  for (const char* subject : {"conv", "dequant", "gated_norm", "gates", "in_proj", "layer",
                              "out_proj", "qk_norm", "recurrent"}) {
    EXPECT_THAT(right.output, HasSubstr(subject));
  }
  const Ran wrong = python("example_suite.py", path("cases") + " --fault error_before_decay");
  EXPECT_EQ(wrong.status, 1) << wrong.output;
  EXPECT_THAT(wrong.output, HasSubstr("recurrent "));
  EXPECT_THAT(wrong.output, HasSubstr("within"));
}

TEST_F(ExportCli, TheContractDecidesHowWideBoundsAre) {
  ASSERT_EQ(export_to("any", "--cases 1 --subject recurrent").status, 0);
  ASSERT_EQ(export_to("twin", "--cases 1 --subject recurrent --contract twin").status, 0);
  EXPECT_EQ(content("any").size(), content("twin").size());
  EXPECT_NE(content("any"), content("twin"));
}

TEST_F(ExportCli, RefusesBadInputInWords) {
  EXPECT_EQ(export_to("x", "").status, 2);
  EXPECT_EQ(run("export --cases 1").status, 2);
  const Ran subject = export_to("x", "--cases 1 --subject nonsense");
  EXPECT_EQ(subject.status, 2);
  EXPECT_THAT(subject.output, HasSubstr("none of layer in_proj"));
  EXPECT_EQ(export_to("x", "--cases 1 --seed x").status, 2);
  EXPECT_EQ(export_to("x", path("absent.case")).status, 2);
  const Ran contract = export_to("x", "--cases 1 --contract nonsense");
  EXPECT_EQ(contract.status, 2);
  EXPECT_THAT(contract.output, HasSubstr("torch_cpu"));
  EXPECT_EQ(run("export --cases 1 --out " + path("no/such/folder")).status, 5);
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(ExportCli, NeverTakesThePlaceOfACaseThatItReads) {
  Case c;
  c.subject = Subject::gates;
  c.shape = {.hidden_size = 1,
             .num_k_heads = 1,
             .head_k_dim = 1,
             .num_v_heads = 1,
             .head_v_dim = 1,
             .conv_kernel = 1};
  const std::string text = print(c);
  write("in.case", text);
  std::filesystem::create_symlink("in.case", path("link"));
  for (const char* out : {"in.case", "link"}) {
    const Ran ran = export_to(out, path("in.case"));
    EXPECT_EQ(ran.status, 2) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("it is read"));
    EXPECT_EQ(content("in.case"), text);
  }
}

TEST_F(ExportCli, NamesTheEngineWhoseContractHasNoName) {
  const std::string plugin = PLUGIN_DIR "/only_dequant.so";
  const Ran ran = export_to("x", "--cases 1 --contract " + plugin);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("contract " + plugin));
}

// What a header may claim, word for word, and what the reader says of it.
TEST_F(ExportCli, TheReaderNamesTheFileWhateverItsHeaderClaims) {
  const std::string entry = R"("a/want/o": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]})";
  const std::string meta = R"("__metadata__": {"format": "gdn-cases-1", "contract": "", "cases": )";
  for (const std::string& header :
       {std::string("[1]"), std::string("{\"a\": null}"), std::string(20000, '['),
        std::string(R"({"a": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}})"),
        std::string(R"({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0.5, 8]}})"),
        "{" + meta + R"("[1]"}, )" + entry + "}", "{" + meta + R"("[]"}, )" + entry + "}"}) {
    std::string file(8, '\0');
    for (size_t i = 0; i < 4; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 255U);
    write("hostile", file + header + std::string(8, '\0'));
    const Ran ran = python("example_suite.py", path("hostile"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.output, HasSubstr("ValueError: " + path("hostile"))) << header.substr(0, 80);
  }
}

TEST_F(ExportCli, TheReaderRefusesWhatIsNoExport) {
  write("cut", "abc");
  const Ran cut = python("example_suite.py", path("cut"));
  EXPECT_EQ(cut.status, 1);
  EXPECT_THAT(cut.output, HasSubstr("no safetensors file"));
  const Ran other =
      python("example_suite.py", SOURCE_DIR "/corpus/oracle/fla_recurrent_f32.safetensors");
  EXPECT_THAT(other.output, HasSubstr("expected gdn-cases-1"));
}

}  // namespace
}  // namespace gdn
