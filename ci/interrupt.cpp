// What SIGINT and SIGTERM do to the program, by the part that a process has in a run.
#include "ci/interrupt.h"

#include <csignal>
#include <ctime>

namespace gdn {
namespace {

constexpr int ending[] = {SIGINT, SIGTERM};

volatile sig_atomic_t asked = 0;
volatile sig_atomic_t passed = 0;
volatile sig_atomic_t passed_again = 0;
volatile time_t asked_at_seconds = 0;
volatile pid_t child_of_supervisor = 0;

time_t now_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

// A terminal, a `timeout` and a supervisor may each send the same wish: it counts once.
void note_wish(int signal) {
  const time_t now = now_seconds();
  if (asked != 0 && now > asked_at_seconds + 1) {
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  if (asked == 0) asked_at_seconds = now;
  asked = 1;
}

void pass_on(int signal) {
  const time_t now = now_seconds();
  if (passed != 0 && now > asked_at_seconds + 1) passed_again = 1;
  if (passed == 0) asked_at_seconds = now;
  passed = 1;
  if (child_of_supervisor > 0) kill(child_of_supervisor, signal);
}

// Without SA_RESTART: a wait is to see that the signal came.
void handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  for (const int signal : ending) sigaction(signal, &action, nullptr);
}

}  // namespace

void end_early_on_signals() { handle(note_wish); }
bool asked_to_end() { return asked != 0; }
bool has_to_end() {
  constexpr time_t in_hand_seconds_max = 2;
  return asked != 0 && now_seconds() > asked_at_seconds + in_hand_seconds_max;
}
bool child_has_to_end() { return passed_again != 0; }

void leave_signals_to_parent() { handle(SIG_IGN); }

void pass_signals_to(pid_t child) {
  child_of_supervisor = child;
  handle(pass_on);
}

void end_by_passed_signal(int signal) {
  if (passed == 0 || (signal != SIGINT && signal != SIGTERM)) return;
  handle(SIG_DFL);
  raise(signal);
}

}  // namespace gdn
