// Text of others is text wherever it is printed: no byte of it moves a cursor, ends a line or is
// markup.
#include "ci/escaped.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "ci/files.h"
#include "ci/table.h"
#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string hostile = "a\x1b[31m|`<script>\n# b";

TEST(Escaped, HasNoByteThatIsObeyed) {
  EXPECT_EQ(visible(hostile), "a\\x1b[31m|`<script>\\x0a# b");
  EXPECT_EQ(for_markdown(hostile), "a\\\\x1b\\[31m\\|\\`&lt;script>\\\\x0a# b");
  EXPECT_EQ(for_markdown("a&b *c* [d](e)"), "a&amp;b \\*c\\* \\[d\\](e)");
  EXPECT_EQ(code_for_markdown("plain --x 'y'"), "`plain --x 'y'`");
  EXPECT_EQ(code_for_markdown("`a``b"), "``` `a``b ```");
  EXPECT_EQ(visible_lines("a\n\xc3\xa9\x1b[2J\xc2\x9b\r\tb\n"),
            "a\n\xc3\xa9\\x1b[2J\\x9b\\x0d\\x09b\n");
}

TEST(Escaped, IsWhatTablesHaveInTheirCells) {
  const TextTable table{{"of"}, {{hostile}}};
  EXPECT_EQ(as_text(table), "of\na\\x1b[31m|`<script>\\x0a# b\n");
  EXPECT_EQ(as_markdown(table), "| of |\n|---|\n| " + for_markdown(hostile) + " |\n");
}

TEST(Escaped, WordsOfAShellAreReadBackAsTheyWere) {
  for (const std::string& word : {hostile, std::string("a'b\\c\n"), std::string("plain")}) {
    EXPECT_THAT(shell_word(word), Not(HasSubstr("\n")));
    const Ran ran = run_line("bash -c " + shell_word("printf %s. " + shell_word(word)));
    EXPECT_EQ(ran.output, word + ".");
  }
}

class HostileNames : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    engine_ = path(hostile + ".so");
    std::filesystem::copy_file(PLUGIN_DIR "/crashing_plugin.so", engine_);
    setenv("CRASHING_PLUGIN", "refuses", 1);
    write("one.case",
          "deltaproof-case 1\nsubject dequant\nshape hidden_size=1 num_k_heads=1 head_k_dim=1 "
          "num_v_heads=1 head_v_dim=1 conv_kernel=1 num_layers=1\nmatrix rows=4 cols=32\n");
  }
  // Of a terminal: no control character but line ends, and none that the engine's name brought.
  static void expect_harmless(const std::string& text) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << text;
    EXPECT_THAT(text, Not(HasSubstr("\n# b"))) << text;
  }
  void expect_harmless_page(const std::string& name) const {
    const std::string page = content(name);
    ASSERT_FALSE(page.empty()) << name;
    expect_harmless(page);
    // Commands stand in blocks of code, four columns in or fenced, where nothing is markup.
    std::istringstream lines(page);
    bool is_code = false;
    for (std::string line; std::getline(lines, line);) {
      if (line == "```") is_code = !is_code;
      if (is_code || line.starts_with("    ") || line.starts_with("Written by")) continue;
      EXPECT_THAT(line, Not(HasSubstr("<script"))) << name;
    }
  }
  std::string engine() const { return " --engine " + shell_quoted(engine_); }

 private:
  // As /bin/sh reads it.
  static std::string shell_quoted(const std::string& text) { return "'" + text + "'"; }
  std::string engine_;
};

TEST_F(HostileNames, AreTextInEveryReport) {
  const std::string to = " --markdown " + path("page.md");
  const std::string out = " --out " + path("out");
  const std::string commands[] = {"check --cases 1 --invariant dequant_is_exact" + out + to,
                                  "triage " + path("one.case") + out + to,
                                  "verify " SOURCE_DIR "/corpus/oracle/ggml_q4_0.safetensors" + to,
                                  "replay " + path("one.case")};
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    std::filesystem::remove(path("page.md"));
    const Ran ran = run(command + engine());
    EXPECT_THAT(ran.output, HasSubstr("script")) << "the name is not there at all";
    expect_harmless(ran.output);
    if (command.find("--markdown") != std::string::npos) expect_harmless_page("page.md");
  }
}

TEST_F(HostileNames, AreTextWhereFilesBringThem) {
  const std::string name = "a\\u001b[31m|`<script>\\n# b";
  write("records.jsonl",
        "{\"version\": 2, \"outcome\": \"fails\", \"engine\": \"" + name +
            "\", \"invariant\": \"dequant_is_exact\", \"text\": \"deltaproof-case 1\\nsubject "
            "dequant\\nshape hidden_size=1 num_k_heads=1 head_k_dim=1 num_v_heads=1 head_v_dim=1 "
            "conv_kernel=1 num_layers=1\\nmatrix rows=4 cols=32\\n\"}\n");
  const Ran triaged = run("triage " + path("records.jsonl") + " --out " + path("out"));
  EXPECT_EQ(triaged.status, 2);
  EXPECT_THAT(triaged.output, HasSubstr("records.jsonl, line 1: no engine"));
  expect_harmless(triaged.output);
  const std::string ratios = "{\"zero\": 3, \"powers_of_two\": {\"-1\": 10}, \"infinite\": 0}";
  const std::string report =
      "{\"format\": \"deltaproof-report\", \"version\": 2, \"deltaproof\": \"" + name +
      "\", \"engine\": \"" + name + "\", \"complete\": false, \"ended\": \"" + name +
      "\", \"files\": [{\"path\": \"x\", \"engine\": \"" + name +
      "\", \"rows\": [{\"source\": \"other\", \"scope\": \"" + name + "\", \"operator\": \"" +
      name + "\", \"tensor\": \"" + name + "\", \"verdict\": \"holds\", \"ratios\": " + ratios +
      "}]}]}";
  write("a.json", report);
  write("b.json", report);
  const Ran compared =
      run("compare " + path("a.json") + " " + path("b.json") + " --markdown " + path("page.md"));
  EXPECT_EQ(compared.status, 0) << compared.output;
  EXPECT_THAT(compared.output, HasSubstr("script"));
  expect_harmless(compared.output);
  expect_harmless_page("page.md");
}

TEST(Escaped, UnitsBeyondAsciiStayInTables) {
  const TextTable table{{"\u00b5s"}, {{"2 \u00d7 3"}}};
  EXPECT_EQ(as_text(table), "\u00b5s\n2 \u00d7 3\n");
  EXPECT_EQ(as_markdown(table), "| \u00b5s |\n|---|\n| 2 \u00d7 3 |\n");
}

}  // namespace
}  // namespace gdn
