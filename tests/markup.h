// A strict reader of XML, and of HTML as we write it: what does not nest, is not quoted or not
// escaped is an error and not mended as a browser would.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gdn {

struct MarkupElement {
  std::string name;
  std::map<std::string, std::string> attributes;  // unescaped
  std::string text;                               // of it and all within, unescaped
  std::vector<size_t> within;                     // indices of the elements around it
};

struct Markup {
  std::vector<MarkupElement> elements;  // in the order in which they open
  std::string why;                      // what is wrong, or empty

  std::vector<const MarkupElement*> named(std::string_view name) const {
    std::vector<const MarkupElement*> found;
    for (const MarkupElement& element : elements) {
      if (element.name == name) found.push_back(&element);
    }
    return found;
  }
};

class MarkupReader {
 public:
  MarkupReader(std::string_view text, bool is_html) : rest_(text), is_html_(is_html) {}

  Markup read() {
    while (!rest_.empty() && markup_.why.empty()) {
      if (rest_.starts_with("<?") || rest_.starts_with("<!")) {
        if (!markup_.elements.empty()) fail("a declaration inside");
        skip_past(">");
      } else if (rest_.starts_with("</")) {
        close();
      } else if (rest_.starts_with("<")) {
        open();
      } else {
        add_text(unescaped(take_until('<')));
      }
    }
    if (markup_.why.empty() && !around_.empty()) {
      fail("not closed: " + markup_.elements[around_.back()].name);
    }
    return markup_;
  }

 private:
  void fail(const std::string& what) {
    if (markup_.why.empty()) markup_.why = what + " before: " + std::string(rest_.substr(0, 60));
  }
  std::string take_until(char end) {
    const std::string text(rest_.substr(0, rest_.find(end)));
    rest_.remove_prefix(text.size());
    return text;
  }
  void skip_past(std::string_view end) {
    const size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }
  std::string take_name() {
    size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 ||
                                     rest_[length] == '-' || rest_[length] == '_')) {
      ++length;
    }
    if (length == 0) fail("no name");
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }

  // The five that every reader knows; characters that XML does not allow.
  std::string unescaped(const std::string& text) {
    static const std::map<std::string, char> known = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if ((byte < ' ' && byte != '\n') || byte == 0x7f) fail("a control character");
      if (byte == '>' && text.substr(0, at).ends_with("]]")) fail("]]>");
      if (byte != '&') {
        out += text[at];
        continue;
      }
      const std::string entity = text.substr(at, text.find(';', at) - at + 1);
      const auto found = known.find(entity);
      if (found == known.end()) return fail("an ampersand"), out;
      out += found->second;
      at += entity.size() - 1;
    }
    return out;
  }
  void add_text(const std::string& text) {
    for (const size_t at : around_) markup_.elements[at].text += text;
    if (around_.empty() && text.find_first_not_of(" \n") != std::string::npos) fail("text outside");
  }

  void open() {
    rest_.remove_prefix(1);
    MarkupElement element{take_name(), {}, {}, around_};
    for (skip_space(); !rest_.empty() && rest_.front() != '>' && rest_.front() != '/';
         skip_space()) {
      const std::string name = take_name();
      if (!markup_.why.empty()) return;
      std::string value;
      if (rest_.starts_with("=\"")) {
        rest_.remove_prefix(2);
        value = unescaped(take_until('"'));
        rest_.remove_prefix(std::min<size_t>(1, rest_.size()));
      } else if (!is_html_ || rest_.starts_with("=")) {
        fail("an attribute without quotes");
      }
      if (!element.attributes.emplace(name, value).second) fail("an attribute twice");
    }
    const bool alone = rest_.starts_with("/");
    skip_past(">");
    const std::string name = element.name;
    markup_.elements.push_back(std::move(element));
    if (alone || (is_html_ && name == "meta")) return;
    around_.push_back(markup_.elements.size() - 1);
    if (!is_html_ || (name != "script" && name != "style")) return;
    const std::string end = "</" + name;
    const size_t at = std::min(rest_.find(end), rest_.size());
    markup_.elements.back().text = rest_.substr(0, at);
    rest_.remove_prefix(at);
  }
  void close() {
    rest_.remove_prefix(2);
    const std::string name = take_name();
    if (around_.empty() || markup_.elements[around_.back()].name != name) {
      return fail("closes another: " + name);
    }
    around_.pop_back();
    skip_past(">");
  }

  std::string_view rest_;
  bool is_html_;
  std::vector<size_t> around_;
  Markup markup_;
};

inline Markup read_html(std::string_view text) { return MarkupReader(text, true).read(); }
inline Markup read_xml(std::string_view text) { return MarkupReader(text, false).read(); }

}  // namespace gdn
