# Broken files other than traces, and places that cannot hold a report or a file: refused in one line that names the
# option or the file, and the field; nothing is written or replaced.
. "$(dirname "$0")/lab.sh"
model="$MARA_SOURCE_DIR/models/philly.json"

write_trace 80 > work/good.csv
write_earlier_report work/mara-report
mkdir work/folder
: > work/empty.json
garbage 500 > work/garbage.json
head -c 4000 "$model" > work/cut.json
echo '{"name": "someone else", "version": 3}' > work/foreign.json
echo '[]' > work/array.json
sed 's/"format": "mara workload model 1"/"format": "mara workload model 9"/' "$model" > work/version.json
sed 's/"duration_jitter"/"duration_jitters"/' "$model" > work/key.json
sed 's/"daily_sigma": [^,]*,/"daily_sigma": -1.0,/' "$model" > work/negative.json
sed 's/"daily_sigma": [^,]*,/"daily_sigma": "low",/' "$model" > work/text.json
sed 's/"daily_sigma": [^,]*,/"daily_sigma": 1e999,/' "$model" > work/infinite.json
sed 's/"daily_sigma": [^,]*,/"daily_sigma": NaN,/' "$model" > work/nan.json

for command in compare tune; do
  refused "$command: model, no such file" "^mara-lab $command: absent.json: no such file" $command --model absent.json
  refused "$command: model, directory" "folder: is a directory" $command --model folder
done
refused "model, empty file" "empty.json: the file is empty" compare --model empty.json
refused "model, binary garbage" "garbage.json: not valid JSON" compare --model garbage.json
refused "model, cut short" "cut.json: not valid JSON" compare --model cut.json
refused "model, other JSON" "foreign.json: key '(version|format)'" compare --model foreign.json
refused "model, array" "array.json: .*must be an object" compare --model array.json
refused "model, other version" "version.json: key 'format'" compare --model version.json
refused "model, unknown key" "key.json: key 'jobs.duration_jitters'" compare --model key.json
refused "model, negative number" "negative.json: .*sigma" compare --model negative.json
refused "model, text for a number" "text.json: key 'arrivals.daily_sigma'" compare --model text.json
refused "model, infinite number" "infinite.json: .*1e999" compare --model infinite.json
refused "model, NaN" "nan.json: not valid JSON" compare --model nan.json
refused "model, a trace" "good.csv: not valid JSON" compare --model good.csv
refused "trace, a model" "philly.json: format: '{' begins no known format" compare --trace "$model"
refused "trace, a model in the trace's format" "philly.json:1: " compare --trace "$model" --format muri

theta=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
echo "{\"theta\": [$theta, 0], \"command\": \"test\"}" > work/expert.json
echo "{\"theta\": [$theta], \"command\": \"test\"}" > work/short.json
echo "{\"theta\": [$theta, \"one\"]}" > work/word.json
echo "{\"theta\": [$theta, 1000]}" > work/large.json
echo "{\"theta\": [$theta, 1e999]}" > work/huge.json
echo "{\"theta\": 5}" > work/scalar.json
echo "{\"theta\": [$theta, 0], \"colour\": 1}" > work/colour.json
echo '{}' > work/object.json
expert() { # expert FILE PATTERN
  for command in compare tune; do
    refused "$command: expert $1" "^mara-lab $command: $1: $2" $command --trace good.csv --expert "$1"
  done
}
expert absent.json "no such file"
expert folder "is a directory"
expert empty.json "the file is empty"
expert garbage.json "JSON: "
expert short.json "theta: 15 numbers, expected 16"
expert word.json "theta\[15\]: expected a number, got \"one\""
expert large.json "theta\[15\]: .*1000"
expert huge.json "JSON: .*1e999"
expert scalar.json "theta: expected an array, got 5"
expert colour.json "colour: unknown key"
expert object.json "theta: 0 numbers"
expert good.csv "JSON: "

echo hello > work/file
mkdir work/site
echo '<h1>home</h1>' > work/site/index.html
long=$(printf 'x%.0s' $(awk 'BEGIN { for (i = 0; i < 300; ++i) print i }'))
out() { # out NAME DIR PATTERN
  refused "report: $1" "^mara-lab compare: --out: .*$3" compare --trace good.csv --out "$2"
}
out "a file" file "file: exists and is not a folder"
out "below a file" file/report "file: is not a folder"
out "below a device" /dev/null/report "/dev/null: is not a folder"
out "where nothing can be created" /proc/report "/proc: "
out "the current folder" . "is the current folder"
out "the folder above" .. "is the current folder or holds it"
out "the root" / ""
out "a folder with a file of that name" site "site/index.html: would be replaced"
out "a name too long" "$long" ""
if [ "$(id -u)" -ne 0 ]; then
  mkdir work/locked
  chmod 555 work/locked
  out "a folder that cannot be written" locked/report "cannot be written"
fi

target() { # target NAME FILE PATTERN
  refused "tune: $1" "^mara-lab tune: --out: $2: $3" tune --trace good.csv --out "$2"
  refused "trace: $1" "^mara-lab trace: --fit: $2: $3" trace good.csv --fit "$2"
}
target "a directory" folder "is a directory"
target "no such folder" absent/file.json "there is no folder absent"
target "below a file" file/file.json "there is no folder file"
target "the trace itself" good.csv "exists and holds"
target "some file" file "exists and holds"
refused "trace: a file of the other kind" "--fit: expert.json: exists" trace good.csv --fit expert.json

# Results that cannot be printed.
if [ -c /dev/full ]; then
  checks=$((checks + 1))
  (cd work && "$MARA_LAB" trace good.csv --json) > /dev/full 2> seen/err
  code=$?
  [ "$code" -eq 2 ] || fail "full stdout: exit code $code"
  grep -q "^mara-lab trace: .*stdout" seen/err || fail "full stdout: $(cat seen/err)"
fi
# Without gnuplot, nothing is trained.
checks=$((checks + 1))
snapshot work > seen/before
(cd work && PATH="$scratch/nowhere" "$MARA_LAB" compare --trace good.csv) > seen/out 2> seen/err && fail "gnuplot missing: accepted"
[ "$(wc -l < seen/err)" -eq 1 ] || fail "gnuplot missing: not one line: $(cat seen/err)"
grep -q "gnuplot-nox" seen/err || fail "gnuplot missing: $(cat seen/err)"
snapshot work > seen/after
cmp -s seen/before seen/after || fail "gnuplot missing: files changed"
finish
