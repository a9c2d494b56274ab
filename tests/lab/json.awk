# awk -f json.awk FILE: checks that FILE is one JSON document (RFC 8259) and prints a line "path value" for each
# string, number, true, false, null and empty array or object in it, such as: .policies[0].name "fcfs".
# Exit code 1 and a line on stderr for anything else.

{ text = text $0 "\n" }

END {
  at = 1
  end = length(text) + 1
  value("", 0)
  blank()
  if (at < end) bad("text after the document")
  printf "%s", out
}

function bad(what) {
  printf "json: %s at character %d: %s\n", what, at, substr(text, at, 20) > "/dev/stderr"
  failed = 1
  exit 1
}

function blank() { while (at < end && index(" \t\r\n", substr(text, at, 1))) ++at }

# Takes what matches `pattern` at this place; empty when nothing does.
function take(pattern,    found) {
  if (!match(substr(text, at, 400), "^" pattern)) return ""
  found = substr(text, at, RLENGTH)
  at += RLENGTH
  return found
}

function string(    begin, c) {
  begin = at++
  while ((c = substr(text, at, 1)) != "\"") {
    if (at >= end || c < " ") bad("string not closed")
    if (c == "\\" && substr(text, at + 1, 1) !~ /["\\\/bfnrtu]/) bad("unknown escape")
    at += c == "\\" ? 2 : 1
  }
  ++at
  return substr(text, begin, at - begin)
}

function value(path, depth,    c, name, count, scalar) {
  if (depth > 50) bad("too deep")
  blank()
  c = substr(text, at, 1)
  if (c == "{" || c == "[") {
    ++at
    count = 0
    blank()
    while (substr(text, at, 1) != (c == "{" ? "}" : "]")) {
      if (count > 0) {
        if (substr(text, at, 1) != ",") bad("a comma is missing")
        ++at
        blank()
      }
      if (c == "{") {
        if (substr(text, at, 1) != "\"") bad("a name is missing")
        name = string()
        name = substr(name, 2, length(name) - 2)
        if ((path, name) in seen) bad("name twice")
        seen[path, name] = 1
        blank()
        if (substr(text, at, 1) != ":") bad("a colon is missing")
        ++at
        value(path "." name, depth + 1)
      } else {
        value(path "[" count "]", depth + 1)
      }
      ++count
      blank()
    }
    ++at
    if (count == 0) out = out path " " (c == "{" ? "{}" : "[]") "\n"
    return
  }
  if (c == "\"")
    scalar = string()
  else if (c ~ /[-0-9]/)
    scalar = take("-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?")
  else
    scalar = take("(true|false|null)")
  if (scalar == "") bad("no value")
  out = out path " " scalar "\n"
}
