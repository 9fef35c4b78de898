// SIGINT and SIGTERM as a wish: a long run judges no more and keeps what it has. A second one, a
// second or more after the first, ends the process as usual.
#pragma once

#include <sys/types.h>

namespace gdn {

// In the process that shares work out.
void end_early_on_signals();
bool asked_to_end();
// What was in hand when the wish came has had its time: seconds, which an engine that hangs is not
// worth more of.
bool has_to_end();

// In a process that judges: its parent decides what becomes of it.
void leave_signals_to_parent();

// In a supervisor: signals are its child's.
void pass_signals_to(pid_t child);
// One more signal, a second or more after the first: the child is to end whatever it does.
bool child_has_to_end();
// Ends this process by the signal that ended its child, if one was passed on.
void end_by_passed_signal(int signal);

}  // namespace gdn
