// Calls of engines, shown in shared memory while they last.
#include "invariants/harness/call_in_progress.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "invariants/harness/calls.h"
#include "invariants/harness/safetensors.h"

namespace gdn {
namespace {

CallShown* shown_in = nullptr;

template <size_t size>
void put(std::string_view text, char (&place)[size]) {
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

// What takes no handle is not of an engine that is open.
template <auto entry, class Name, class Entry>
void show(const gdn_api&, Entry, gdn_api&) {}

// A function of the table has no room for a context: each entry has one of its own.
template <auto entry, class Name, class R, class Handle, class... A>
requires std::is_same_v<std::remove_const_t<Handle>, gdn_engine>
void show(const gdn_api& api, R (*gdn_api::*)(Handle*, A...), gdn_api& shown) {
  if (api.*entry == nullptr) return;
  shown.*entry = [](Handle* handle, A... given) -> R {
    const ShownHandle& own = *reinterpret_cast<const ShownHandle*>(handle);
    const InCall now(own.engine, Name::text());
    return (own.api->*entry)(own.handle, given...);
  };
}

}  // namespace

void CallShown::begin(std::string_view engine, std::string_view call) {
  put(engine, engine_);
  put(call, call_);
  begun_ = ended_ + 1;
}

void CallShown::end() { ended_ = begun_.load(); }

uint64_t CallShown::number() const {
  const uint64_t begun = begun_;
  return begun > ended_ ? begun : 0;
}

std::string CallShown::in_words() const {
  return "engine " + printable_path(engine_) + ": " + call_;
}

void show_calls_in(CallShown* shown) { shown_in = shown; }

InCall::InCall(std::string_view engine, std::string_view call) {
  if (shown_in != nullptr) shown_in->begin(engine, call);
}

InCall::~InCall() {
  if (shown_in != nullptr) shown_in->end();
}

gdn_api shown_calls(const gdn_api& api) {
  gdn_api shown = api;
#define GDN_SHOW(entry)                                       \
  {                                                           \
    struct Name {                                             \
      static const char* text() { return #entry; }            \
    };                                                        \
    show<&gdn_api::entry, Name>(api, &gdn_api::entry, shown); \
  }
  GDN_EACH_CALL(GDN_SHOW)
#undef GDN_SHOW
  return shown;
}

}  // namespace gdn
