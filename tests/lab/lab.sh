# Helpers of the shell tests of mara-lab; a test sources this file and ends with `finish`.

if [ ! -x "${MARA_LAB:-}" ]; then
  echo "skipped: set MARA_LAB to the built mara-lab"
  exit 0
fi
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
failures=0
checks=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cd "$scratch" || exit 1
mkdir work seen

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*"
}

finish() {
  echo "$checks checks, $failures failed"
  [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
  exit
}

# write_trace JOBS [GAP_MS]: a synthetic trace in the Muri columns, always the same; the mean gap between
# submissions is 300 s unless told.
write_trace() {
  awk -v jobs="$1" -v gap="${2:-300000}" '
    function draw(below) { state = (state * 16807) % 2147483647; return state % below }
    BEGIN {
      state = 20240229
      models = split("dqn vgg16 resnet18 bert a2c gpt2", model, " ")
      print "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time," \
            "resource_time_0,resource_time_1,resource_time_2,priority"
      for (i = 0; i < jobs; ++i) {
        step = gap > 0 ? draw(2 * gap) : 0
        now += step
        printf "%d,%d,%.0f,100,%s,64,%d,%d,20,1,2,3,%d\n", i, 2 ^ draw(4), now, model[1 + draw(models)],
               60000 + draw(7200000), step, draw(2)
      }
    }'
}

# with_field LINE COLUMN VALUE < FILE: the file with one field replaced.
with_field() {
  awk -F, -v OFS=, -v line="$1" -v column="$2" -v value="$3" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = i }
    NR == line { $at = value }
    { print }'
}

# Every file below the folder with its checksum, and every folder.
snapshot() {
  (cd "$1" && find . | LC_ALL=C sort | while IFS= read -r path; do
    if [ -f "$path" ]; then cksum "$path"; else echo "$path"; fi
  done)
}

# refused NAME PATTERN ARGUMENT...: in the folder work, mara-lab must exit with code 2, print nothing on stdout
# and one line on stderr that matches the extended regular expression, and change no file.
refused() {
  name=$1
  pattern=$2
  shift 2
  checks=$((checks + 1))
  snapshot work > seen/before
  (cd work && "$MARA_LAB" "$@") > seen/out 2> seen/err < /dev/null
  code=$?
  snapshot work > seen/after
  printf '%-46s [%d] ' "$name" "$code"
  cat seen/err
  [ "$code" -eq 2 ] || fail "$name: exit code $code, expected 2"
  [ ! -s seen/out ] || fail "$name: printed on stdout: $(head -c 200 seen/out)"
  [ "$(wc -l < seen/err)" -eq 1 ] || fail "$name: $(wc -l < seen/err) lines on stderr, expected 1"
  grep -Eq -e "$pattern" seen/err || fail "$name: the message does not match: $pattern"
  cmp -s seen/before seen/after || fail "$name: files changed: $(diff seen/before seen/after)"
}

# accepted NAME ARGUMENT...: in the folder work, mara-lab must exit with code 0; its output is in seen/out and
# seen/err.
accepted() {
  name=$1
  shift
  checks=$((checks + 1))
  (cd work && "$MARA_LAB" "$@") > seen/out 2> seen/err < /dev/null
  code=$?
  [ "$code" -eq 0 ] || fail "$name: exit code $code: $(tail -n 3 seen/err)"
}

# garbage BYTES: bytes without a zero, always the same.
garbage() {
  awk -v bytes="$1" 'BEGIN {
    state = 7
    for (i = 0; i < bytes; ++i) { state = (state * 16807) % 2147483647; printf "%c", 1 + state % 255 } }'
}

# expect NAME COMMAND...: the command must succeed.
expect() {
  name=$1
  shift
  checks=$((checks + 1))
  "$@" || fail "$name"
}

# An earlier report, with a file of the user's beside it.
write_earlier_report() {
  mkdir -p "$1"
  echo '{"format": "mara-report", "version": 1}' > "$1/summary.json"
  echo 'policy,job,submit,start,end,gpus,type' > "$1/jobs.csv"
  echo '<!DOCTYPE html><title>earlier</title>' > "$1/index.html"
  echo 'mine' > "$1/note.txt"
}
