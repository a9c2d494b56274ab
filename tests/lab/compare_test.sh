# A whole comparison on a small trace: what --json promises, the report's files, and the same report for the same
# seed, whatever the number of threads and the working directory.
. "$(dirname "$0")/lab.sh"

policies="fcfs sjf srtf tetris optimus hesrpt tuned-list flow-executed mappo mara"
jobs=100
steps=2048
write_trace $jobs > work/trace.csv
mkdir -p work/a/deep/folder
write_earlier_report work/one
flatten() { awk -f "$here/json.awk" "$1"; }
value() { # value FILE PATH: of a flattened document
  awk -v path="$2" 'index($0, path " ") == 1 { print substr($0, length(path) + 2) }' "$1"
}
is_number() { printf '%s\n' "$1" | grep -Eq '^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$'; }

accepted "two seeds, one thread, --json" compare --trace trace.csv --steps $steps --flow-steps 20 --seeds 2 --threads 1 --json --out one
mv seen/out one.json
expect "progress goes to stderr" test -s seen/err
accepted "two seeds, two threads" compare --trace trace.csv --steps $steps --flow-steps 20 --seeds 2 --threads 2 --out two
mv seen/out two.txt
checks=$((checks + 1))
(cd work/a/deep/folder && "$MARA_LAB" compare --trace ../../../trace.csv --steps $steps --flow-steps 20) > third.txt 2> seen/err ||
  fail "one seed, from another folder: $(tail -n 3 seen/err)"
third=work/a/deep/folder/mara-report

# ---- stdout with --json
checks=$((checks + 1))
flatten one.json > one.flat || fail "--json: not one JSON document"
awk '/^[.]policies\[[0-9]+\][.]name / { gsub(/"/, "", $2); printf "%s ", $2 }' one.flat > names
expect "--json: names of the policies: $(cat names)" test "$(cat names)" = "$policies "
judged=$(($(value one.flat '.policies[0].finished') + $(value one.flat '.policies[0].unfinished')))
i=0
for name in $policies; do
  for field in mean_jct_s p95_jct_s mean_slowdown gpu_utilisation jain decision_us_p50 decision_us_p99 finished unfinished; do
    expect "--json: $name: $field is a number" is_number "$(value one.flat ".policies[$i].$field")"
  done
  done_and_open=$(($(value one.flat ".policies[$i].finished") + $(value one.flat ".policies[$i].unfinished")))
  expect "--json: $name: finished and unfinished are the $judged jobs" test "$done_and_open" -eq "$judged"
  expect "--json: $name: shares are at most 1" awk -v u="$(value one.flat ".policies[$i].gpu_utilisation")" \
    -v j="$(value one.flat ".policies[$i].jain")" 'BEGIN { exit !(u > 0 && u <= 1 && j > 0 && j <= 1) }'
  expect "--json: $name: p95 is not below the median" awk -v a="$(value one.flat ".policies[$i].p50_jct_s")" \
    -v b="$(value one.flat ".policies[$i].p95_jct_s")" 'BEGIN { exit !(b >= a && a > 0) }'
  i=$((i + 1))
done
for i in 0 1 2 3; do
  name=$(value one.flat ".training[$i].name")
  expect "--json: training $i: $name" test "$name" = "$([ $i -lt 2 ] && echo '"mappo"' || echo '"mara"')"
  expect "--json: training $i: env_steps" test "$(value one.flat ".training[$i].env_steps")" -ge $steps
  expect "--json: training $i: seconds" is_number "$(value one.flat ".training[$i].seconds")"
  reached=$(value one.flat ".training[$i].steps_to_best_rule")
  [ "$reached" = null ] || expect "--json: training $i: steps_to_best_rule" is_number "$reached"
done
expect "--json: four trainings" test -z "$(value one.flat '.training[4].name')"

# ---- the files of the report
expect "a file of the user's is kept" grep -q mine work/one/note.txt
for file in index.html summary.json jobs.csv policies.svg policies.png learning_curves.svg learning_curves.png mara.actor \
  timeline_mara.svg; do
  expect "report: $file" test -s work/one/$file
done
checks=$((checks + 1))
flatten work/one/summary.json > summary.flat || fail "summary.json: not one JSON document"
for link in $(grep -Eo '(src|href)="[^"]*"' work/one/index.html | sed 's/.*="//; s/"//'); do
  expect "index.html: $link is there" test -f "work/one/$link"
done
expect "no folder is left beside the reports" test -z "$(find work -name '.mara-report*')"
expect "jobs.csv: header" test "$(head -n 1 work/one/jobs.csv)" = policy,job,submit,start,end,gpus,type
# Rows add up: every policy has every job once, no job ends before it starts, and the means are those of the table.
awk -F, -v jobs="$judged" -v names="$policies mara#2 mappo#2 flow-executed#2" '
  FILENAME ~ /flat$/ {
    split($0, part, " ")
    if (part[1] ~ /^[.]policies.*[.]name$/) { name = part[2]; gsub(/"/, "", name); at = part[1]; sub(/name$/, "", at); of[at] = name }
    if (part[1] ~ /^[.]policies.*[.]mean_jct_s$/) { at = part[1]; sub(/mean_jct_s$/, "", at); mean[at] = part[2] }
    next
  }
  FNR == 1 { next }
  {
    if (($1, $2) in seen) print "job twice: " $0
    seen[$1, $2] = 1
    ++rows[$1]
    if ($5 == "") next
    if ($4 < $3 || $5 <= $4 || $6 <= 0 || $7 == "") print "bad row: " $0
    ++finished[$1]
    sum[$1] += $5 - $3
  }
  END {
    count = split(names, name_of, " ")
    for (i = 1; i <= count; ++i) if (rows[name_of[i]] != jobs) print name_of[i] ": " rows[name_of[i]] " rows"
    for (name in rows) ++policies
    if (policies != count) print policies " policies in jobs.csv, not " count
    for (at in of) {
      name = of[at]
      jct = sum[name] / finished[name]
      if ((name "#2") in rows) jct = (jct + sum[name "#2"] / finished[name "#2"]) / 2
      if (jct - mean[at] > 1e-6 * jct || mean[at] - jct > 1e-6 * jct) print name ": mean JCT " mean[at] ", rows say " jct
    }
  }' one.flat work/one/jobs.csv > seen/problems
expect "jobs.csv: $(head -n 3 seen/problems)" test ! -s seen/problems

# ---- the terminal
for name in $policies; do
  expect "table: $name" grep -Eq "^$name +[0-9]" two.txt
done
expect "table: at most 120 columns" awk '{ gsub(/[\200-\277]/, ""); if (length($0) > 120) exit 1 }' two.txt
expect "the last line names the report" test "$(tail -n 1 third.txt)" = "report: mara-report/index.html"

# ---- one seed, one report
without_timing() { sed '/^ "timing": {$/,/^ }/d' "$1"; }
for file in one two; do
  expect "summary.json of $file has times apart" grep -q '^ "timing": {$' work/$file/summary.json
  without_timing work/$file/summary.json > seen/$file
done
expect "without times nothing of a clock is left" test -z "$(grep -E '"([a-z]*_)?seconds"|decision_us' seen/one)"
expect "summary.json: one and two threads" cmp seen/one seen/two
expect "jobs.csv: one and two threads" cmp work/one/jobs.csv work/two/jobs.csv
expect "mara.actor: one and two threads" cmp work/one/mara.actor work/two/mara.actor
grep -v '^[a-z-]*#2,' work/one/jobs.csv > seen/first_seed
expect "jobs.csv: the first seed alone gives the same rows" cmp seen/first_seed $third/jobs.csv
expect "mara.actor: the first seed alone" cmp work/one/mara.actor $third/mara.actor
finish
