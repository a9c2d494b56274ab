# Traces at the edge: too little to learn from is refused clearly; odd but sound files work.
. "$(dirname "$0")/lab.sh"

write_trace 120 > work/good.csv
write_earlier_report work/mara-report
for jobs in 1 2 29; do head -n $((jobs + 1)) work/good.csv > work/jobs_$jobs.csv; done
write_trace 80 0 > work/same_time.csv
awk -F, -v OFS=, 'NR > 1 { $3 = NR < 60 ? 1000 : 900000 } { print }' work/good.csv > work/two_times.csv
awk -F, -v OFS=, 'NR > 1 { $7 = 0 } { print }' work/good.csv > work/no_duration.csv

refused "one job" "jobs_1.csv: all jobs are submitted at the same time" compare --trace jobs_1.csv
refused "two jobs" "jobs_2.csv: the first 60 % of its time.* at least 30 jobs.* 1$" compare --trace jobs_2.csv
refused "29 jobs" "jobs_29.csv: the first 60 % of its time.* at least 30 jobs" compare --trace jobs_29.csv
refused "all at one time" "same_time.csv: all jobs are submitted at the same time" compare --trace same_time.csv
refused "at two times" "two_times.csv: .*all jobs are submitted at the same time" compare --trace two_times.csv
refused "no job has a duration" "no_duration.csv: no job in the file" compare --trace no_duration.csv
refused "tune: two jobs" "jobs_2.csv: .*at least 30 jobs" tune --trace jobs_2.csv
refused "trace --fit: two jobs" "jobs_2.csv: .*at least 30 jobs" trace jobs_2.csv --fit model.json
refused "trace --fit: all at one time" "same_time.csv: .*same time" trace same_time.csv --fit model.json

# A summary needs no more than a job.
for file in jobs_1 jobs_2 same_time; do
  accepted "trace $file" trace $file.csv --json
  expect "trace $file: JSON" awk -f "$here/json.awk" seen/out > seen/flat
  accepted "trace $file as text" trace $file.csv
  expect "trace $file: no NaN" test -z "$(grep -Ei 'nan|inf' seen/out)"
done

# The same file in other clothes: byte order mark, CRLF, quotes, blank lines, columns and rows in another order.
accepted "trace" trace good.csv --json
grep -v '"file"' seen/out > seen/plain
{
  printf '\357\273\277'
  awk -F, '{ printf "%s,\"%s\",%s,%s,%s,%s\r\n\r\n", $7, $1, $3, $2, $5, $13 }' work/good.csv
} > work/dressed.csv
accepted "trace in other clothes" trace dressed.csv --json
grep -v '"file"' seen/out > seen/dressed
expect "other clothes, same summary" cmp seen/plain seen/dressed
{ head -n 1 work/good.csv && tail -n +2 work/good.csv | sort -t, -k7,7n; } > work/unsorted.csv
accepted "unsorted trace" trace unsorted.csv --json
grep -v '"file"' seen/out > seen/unsorted
expect "unsorted, same summary" cmp seen/plain seen/unsorted

# One job is left to be judged on, some rows are skipped, and the file's name needs care everywhere.
odd='a <b> & "c" $d %s.csv'
awk -F, -v OFS=, 'NR == 10 || NR == 20 { $7 = 0 } NR == 121 { $3 = $3 * 2 } { print }' work/good.csv > "work/$odd"
accepted "one job to be judged on" compare --trace "$odd" --steps 256 --flow-steps 20 --threads 1 --json --out "report of $odd"
expect "one job to be judged on: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "one job to be judged on: finished" test "$(awk '$1 == ".policies[9].finished" { print $2 }' seen/flat)" = 1
expect "skipped rows are reported" grep -q "2 rows of the trace" "work/report of $odd/summary.json"
expect "the page is there" test -s "work/report of $odd/index.html"
expect "the page holds no foreign markup" test -z "$(grep '<b>' "work/report of $odd/index.html")"

# Kinds of jobs and GPU counts that occur, but never together: gpt2 needs the memory of an a100, and there are four.
awk -F, -v OFS=, '$5 == "gpt2" && $2 > 4 { $2 = 4 } { print }' work/good.csv > work/apart.csv
accepted "a cluster that cannot hold every combination" compare --trace apart.csv --steps 256 --flow-steps 20 --threads 1 --json \
  --cluster a100:1x4,v100:2x8,t4:2x8 --out apart
expect "a cluster that cannot hold every combination: JSON" awk -f "$here/json.awk" seen/out > seen/flat

# A drawing program that fails after the training: the earlier report stays as it was, and nothing is left beside it.
mkdir broken
cat > broken/gnuplot << 'END'
#!/bin/sh
[ "$1" = --version ] && exit 0
echo '"figure.gp" line 3: out of ink' >&2
exit 1
END
chmod +x broken/gnuplot
checks=$((checks + 1))
snapshot work > seen/before
(cd work && PATH="$scratch/broken:$PATH" "$MARA_LAB" compare --trace good.csv --steps 64 --flow-steps 20 --threads 1 --json) \
  > seen/out 2> seen/err
code=$?
[ "$code" -eq 1 ] || fail "broken gnuplot: exit code $code, expected 1"
[ ! -s seen/out ] || fail "broken gnuplot: printed on stdout"
tail -n 1 seen/err | grep -q '^mara-lab compare: gnuplot failed: .*line 3: out of ink' ||
  fail "broken gnuplot: $(tail -n 1 seen/err)"
snapshot work > seen/after
cmp -s seen/before seen/after || fail "broken gnuplot: files changed: $(diff seen/before seen/after)"
finish
