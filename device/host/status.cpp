// Statuses with printed reasons.
#include "device/host/status.h"

#include <cstdarg>
#include <cstdio>

namespace gdn::host {

Status failure(gdn_status code, const char* format, ...) {
  Status status;
  status.code = code;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(status.text, sizeof status.text, format, arguments);
  va_end(arguments);
  return status;
}

void refuse(gdn_status code, const char* format, ...) {
  Failed failed;
  failed.status.code = code;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(failed.status.text, sizeof failed.status.text, format, arguments);
  va_end(arguments);
  throw failed;
}

}  // namespace gdn::host
