extern "C" __attribute__((weak)) const char* {{kernel}}_error(int status) {
  switch (status) {
    case 0: return "success";
{{#messages}}
    case {{number}}: return "{{{text}}}";
{{/messages}}
  }
  return "unknown status";
}
