// ci/export_oracle.py as far as it goes without torch: arguments, messages, the order of rows. Its
// writer is that of docs/python/dump_capture.py, which has a test of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program_run.h"

namespace gdn {
namespace {

using testing::HasSubstr;

class ExportOracle : public ProgramTest {
 protected:
  Ran exporter(const std::string& arguments) const {
    return run_line("PYTHONDONTWRITEBYTECODE=1 " + std::string(PYTHON) +
                    " " SOURCE_DIR "/ci/export_oracle.py " + arguments + " 2>&1");
  }
  // Lines that find the exporter as a module.
  Ran python(const std::string& lines) const {
    write("lines.py", "import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '" SOURCE_DIR
                      "/ci')\n" +
                          lines);
    return run_line(std::string(PYTHON) + " " + path("lines.py") + " 2>&1");
  }
};

TEST_F(ExportOracle, RowsOfQwen3NextAreFoundWhereItsGroupsHoldThem) {
  // Rows named by what they are: a group of each k-head holds q, k, and v and z of its v-heads.
  const Ran ran = python(R"(
import export_oracle as e
def names(kind, head, count):
    return [(kind, head, i) for i in range(count)]
kh, kd, vh, vd = 2, 3, 6, 4
r = vh // kh
qkvz, ba = [], []
for head in range(kh):
    of = range(head * r, head * r + r)
    qkvz += names('q', head, kd) + names('k', head, kd)
    qkvz += [n for v in of for n in names('v', v, vd)]
    qkvz += [n for v in of for n in names('z', v, vd)]
    ba += [('b', v, 0) for v in of] + [('a', v, 0) for v in of]
rows = e.rows_of_groups(kh, kd, vh, vd)
want = [n for kind, heads, dim in (('q', kh, kd), ('k', kh, kd), ('v', vh, vd))
        for head in range(heads) for n in names(kind, head, dim)]
assert [qkvz[i] for i in rows['qkv']] == want
assert [qkvz[i] for i in rows['z']] == [n for v in range(vh) for n in names('z', v, vd)]
assert [ba[i] for i in rows['b']] == [('b', v, 0) for v in range(vh)]
assert [ba[i] for i in rows['a']] == [('a', v, 0) for v in range(vh)]
print('same')
)");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("same"));
}

TEST_F(ExportOracle, RefusesBadArgumentsInWordsBeforeTorchIsAskedFor) {
  EXPECT_EQ(exporter("").status, 2);
  EXPECT_EQ(exporter("--tiny-random qwen9 --out x").status, 2);
  EXPECT_EQ(exporter("--tiny-random qwen3_5").status, 2);
  const std::string tiny = "--tiny-random qwen3_5 --out " + path("x") + " --calls ";
  for (const char* calls : {"1,x", "0,1", "1,4", ""}) {
    const Ran ran = exporter(tiny + "'" + calls + "'");
    EXPECT_EQ(ran.status, 2) << calls;
    EXPECT_THAT(ran.output, HasSubstr("export_oracle: --calls: "));
  }
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

TEST_F(ExportOracle, SaysWhatIsMissing) {
  const Ran ran = python(
      "sys.modules['torch'] = None\nimport export_oracle as e\n"
      "sys.exit(e.main(['--tiny-random', 'qwen3_5', '--out', 'x']))\n");
  EXPECT_EQ(ran.status, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("torch is missing: it runs where torch and transformers are"));
}

TEST_F(ExportOracle, ReadsTheConfigurationOfACheckpoint) {
  write("text/config.json",
        R"({"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text",
           "hidden_size": 5120, "linear_num_value_heads": 48, "rms_norm_eps": 1e-6}})");
  write("gate/config.json", R"({"model_type": "qwen3_next", "output_gate_type": "sigmoid"})");
  write("other/config.json", R"({"model_type": "llama"})");
  const Ran ran = python("import pathlib, export_oracle as e\nfolder = pathlib.Path('" + path("") +
                         R"(')
kind, sizes = e.checkpoint_config(folder / 'text', e.SIZES)
assert kind == 'qwen3_5'
assert sizes == {'hidden_size': 5120, 'linear_num_value_heads': 48, 'rms_norm_eps': 1e-6}
for name in ('gate', 'other', 'absent'):
    try:
        e.checkpoint_config(folder / name, e.SIZES)
    except e.BadInput as bad:
        print(bad)
)");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("output_gate_type is 'sigmoid', expected swish"));
  EXPECT_THAT(ran.output, HasSubstr("the model is 'llama', expected one of qwen3_5, qwen3_next"));
  EXPECT_THAT(ran.output, HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace gdn
