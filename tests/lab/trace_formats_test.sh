# `mara-lab trace`: the format is guessed, compressed files are read, tenants and classes are summed, figures drawn.
. "$(dirname "$0")/lab.sh"

write_trace 80 > work/good.csv
gzip -c work/good.csv > work/good.csv.gz
cat work/good.csv.gz work/good.csv.gz > work/twice.gz
head -c 600 work/good.csv.gz > work/cut.gz
{ printf '\037\213'; garbage 300; } > work/garbage.gz

accepted "trace" trace good.csv --json
expect "trace: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "trace: the format is guessed" grep -q '"format": "muri"' seen/out
grep -v '"file"' seen/out > seen/plain
accepted "compressed trace" trace good.csv.gz --json
grep -v '"file"' seen/out > seen/packed
expect "compressed, same summary" cmp seen/plain seen/packed
accepted "compressed trace, named format" trace good.csv.gz --format muri
accepted "fitted to a compressed trace" trace good.csv.gz --fit packed.json
accepted "fitted to the same trace" trace good.csv --fit plain.json
expect "the same model" test "$(grep -c . work/plain.json)" -eq "$(grep -c . work/packed.json)"
refused "cut short" "^mara-lab trace: cut.gz: gzip: cut short at byte 600" trace cut.gz
refused "damaged" "^mara-lab trace: garbage.gz: gzip: damaged before byte" trace garbage.gz
refused "compressed twice over" "twice.gz:82: field 'job_id': value 'job_id' is not a whole number" trace twice.gz
refused "compare: cut short" "^mara-lab compare: cut.gz: gzip: cut short" compare --trace cut.gz

# Our own format, with more tenants than are shown.
{
  echo 'id,submit,duration,gpus,tenant,sla,deadline,after'
  awk 'BEGIN { for (i = 0; i < 60; ++i)
    printf "%d,%d,3600,%d,user %d,%s,%s,%s\n", i, 60 * i, 1 + i % 25, i % 25, i % 2 ? "gold" : "", i % 3 ? "" : 9000, (i > 50) ? 7 : "" }'
  echo '60,3600,0,1,user 3,gold,,'
  echo '61,3600,9,0,user 3,gold,,'
} > work/own.csv
accepted "own format" trace own.csv
expect "own format: tenants" grep -Eq '^user 24 +2 +50[.]0 +60[.]0 min +7[.]1 %$' seen/out
expect "own format: twenty tenants" test "$(grep -c '^user ' seen/out)" -eq 20
expect "own format: the rest" grep -Eq '^5 others +15 +45[.]0 +60[.]0 min +[0-9.]+ %$' seen/out
expect "own format: classes" grep -Eq '^gold +30 ' seen/out
expect "own format: deadlines" grep -Eq '^with a deadline +20 jobs' seen/out
expect "own format: dependencies" grep -Eq '^waiting for others +9 jobs' seen/out
expect "own format: skipped rows" grep -Eq '^skipped rows +2 [(]no GPU: 1, .*no duration: 1, malformed: 0[)]' seen/out
accepted "own format, JSON" trace own.csv --json
expect "own format: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "own format: JSON, tenants" awk '
  $1 == ".tenants.count" { count = $2 } /^[.]tenants[.]top.*[.]jobs / { ++top; jobs += $2 } $1 == ".tenants.rest.jobs" { jobs += $2 }
  /^[.]tenants.*[.]share / { share += $2 } END { exit !(count == 25 && top == 20 && jobs == 60 && share > 0.9999 && share < 1.0001) }' seen/flat

# SWF, with numbers for users; a Gavel trace, which needs a table.
printf '; Version: 2.2\n%s\n%s\n' '1 0 -1 100 4 -1 -1 4 200 -1 1 7 1 -1 -1 -1 -1 -1' \
  '2 60 -1 -1 4 -1 -1 4 200 -1 1 7 1 -1 -1 -1 -1 -1' > work/log.swf
accepted "SWF" trace log.swf
expect "SWF: users" grep -Eq '^7 +1 ' seen/out
expect "SWF: estimates" grep -Eq '^with an estimate +1 jobs' seen/out
printf "A3C\tpython3\tdir\t--steps\t1\t100\t1\t1\t-1.000000\t0\n" > work/gavel.trace
printf '{"v100": {"(%s, 1)": {"null": 4.0}}}' "'A3C'" > work/table.json
gzip -c work/table.json > work/table.json.gz
refused "gavel without a table" "^mara-lab trace: gavel.trace: .* needs the table .*--throughputs" trace gavel.trace
refused "gavel with another file" "^mara-lab trace: --throughputs: good.csv: byte 0" trace gavel.trace --throughputs good.csv
refused "gavel with no file" "^mara-lab trace: --throughputs: absent.json: no such file" trace gavel.trace --throughputs absent.json
for table in table.json table.json.gz; do
  accepted "gavel with $table" trace gavel.trace --throughputs $table
  expect "gavel with $table: run time" grep -Eq '^duration +25[.]0 s' seen/out
done

# Figures.
accepted "figures" trace own.csv --out new/figures
for figure in arrivals durations gpus load; do
  expect "figure $figure" grep -q '</svg>' work/new/figures/$figure.svg
  expect "figure $figure is named" grep -Eq "^figure +new/figures/$figure.svg$" seen/out
done
accepted "figures over earlier ones, JSON" trace log.swf --out new/figures --json
expect "figures: JSON" awk -f "$here/json.awk" seen/out > seen/flat
expect "figures are named in JSON" grep -q '"new/figures/load.svg"' seen/out
expect "nothing else is left" test "$(ls work/new/figures | wc -l)" -eq 4
mkdir work/mine
echo '<svg>mine</svg>' > work/mine/gpus.svg
refused "a figure of someone else" "^mara-lab trace: --out: mine/gpus.svg: exists and holds something else" trace own.csv --out mine
refused "a file for a folder" "^mara-lab trace: --out: good.csv: exists and is not a folder" trace own.csv --out good.csv
refused "below a file" "^mara-lab trace: --out: good.csv/figures: good.csv is not a folder" trace own.csv --out good.csv/figures
refused "figures of a broken trace" "cut.gz: gzip: cut short" trace cut.gz --out elsewhere
checks=$((checks + 1))
(cd work && PATH="$scratch/nowhere" "$MARA_LAB" trace own.csv --out elsewhere) > seen/out 2> seen/err && fail "gnuplot missing: accepted"
grep -q "gnuplot-nox" seen/err || fail "gnuplot missing: $(cat seen/err)"
expect "gnuplot missing: no folder" test ! -e work/elsewhere
finish
