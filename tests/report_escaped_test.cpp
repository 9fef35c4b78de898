// Texts of others in each format of a report: they are shown, and are nothing but text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ci/night/report_escaped.h"

namespace gdn {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::Not;

TEST(ReportEscaped, WhatCanBeSeenStaysAndWhatCannotIsSpelled) {
  EXPECT_EQ(visible("plain, \xc3\xa9 and \xe2\x86\x92 and \xf0\x9f\x92\xa1"),
            "plain, \xc3\xa9 and \xe2\x86\x92 and \xf0\x9f\x92\xa1");
  EXPECT_EQ(visible("\x00\x1b[31m\x7f\n"s), "\\x00\\x1b[31m\\x7f\\x0a");
  EXPECT_EQ(visible("\xc2\x85"), "\\x85") << "a C1 control";
  EXPECT_EQ(visible("\xe2\x80\xae\xe2\x81\xa6"), "\\u202e\\u2066") << "they turn what follows";
  EXPECT_EQ(visible("\xe2\x80\x8b\xef\xbb\xbf"), "\\u200b\\ufeff") << "they have no width";
  EXPECT_EQ(visible("\xef\xbf\xbf"), "\\uffff") << "XML allows it nowhere";
  EXPECT_EQ(visible_lines("a\nb\r"), "a\nb\\x0d");
}

TEST(ReportEscaped, BytesThatAreNoUtf8AreSpelled) {
  EXPECT_EQ(visible("\xff"), "\\xff");
  EXPECT_EQ(visible("\xc3\x28"), "\\xc3(");
  EXPECT_EQ(visible("\xc0\xaf"), "\\xc0\\xaf") << "an overlong slash";
  EXPECT_EQ(visible("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(visible("end \xe2\x80"), "end \\xe2\\x80");
}

TEST(ReportEscaped, NoMarkupIsLeftInHtmlAndXml) {
  EXPECT_EQ(for_html("<b a=\"x\" c='y'>&"), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(for_xml("]]>"), "]]&gt;");
  EXPECT_EQ(lines_for_xml("a\n<\x02"), "a\n&lt;\\x02");
}

TEST(ReportEscaped, NothingEndsACodeBlock) {
  EXPECT_EQ(code_block_for_markdown("a"), "```text\na\n```\n");
  EXPECT_EQ(code_block_for_markdown("a\n```\n# b\n"), "````text\na\n```\n# b\n````\n");
  EXPECT_EQ(code_block_for_markdown("`````"), "``````text\n`````\n``````\n");
}

TEST(ReportEscaped, JsonWithinAPageHasNoMarkupAndSaysTheSame) {
  const nlohmann::ordered_json value = {{"<k>", "</script><!-- & \xe2\x80\xa8 \xc3\xa9"}};
  const std::string text = json_for_html(value);
  for (const char* markup : {"<", ">", "&", "\xe2"}) EXPECT_THAT(text, Not(HasSubstr(markup)));
  EXPECT_EQ(nlohmann::ordered_json::parse(text), value);
}

}  // namespace
}  // namespace gdn
