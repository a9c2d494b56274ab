# Broken traces: each is refused in one line that names file, line and field, and nothing is written.
. "$(dirname "$0")/lab.sh"

write_trace 80 > good.csv
write_earlier_report work/mara-report
mkdir work/folder
: > work/empty.csv
head -n 1 good.csv > work/header_only.csv
tail -n +2 good.csv > work/no_header.csv
garbage 3000 > work/garbage.csv
printf 'job_id,num_gpu\0,submit_time\n' > work/zero_byte.csv
printf '\n\n\n' > work/blank.csv
awk 'NR == 7 { $0 = $0 ",9" } { print }' good.csv > work/long_row.csv
awk 'NR == 7 { sub(/,[^,]*$/, "") } { print }' good.csv > work/short_row.csv
awk 'NR == 7 { sub(/,/, ",\"") } { print }' good.csv > work/open_quote.csv
cut -d, -f1-2,4- good.csv > work/no_submit_time.csv
sed '1s/num_gpu/gpu_count/' good.csv > work/other_column.csv
sed '1s/interval/duration/' good.csv > work/twice.csv
sed '1s/$/,colour/; 2,$s/$/,red/' good.csv > work/extra_column.csv
i=0
field() { # field COLUMN VALUE PATTERN
  i=$((i + 1))
  with_field 7 "$1" "$2" < good.csv > "work/field_$i.csv"
  refused "$1 '$2'" "field_$i.csv:7: field '$1': value '.*' $3" compare --trace "field_$i.csv"
}

for command in compare tune; do
  refused "$command: no such file" "^mara-lab $command: absent.csv: no such file" $command --trace absent.csv
  refused "$command: no header" "^mara-lab $command: no_header.csv: format: '[0-9].*' begins no known format" $command --trace no_header.csv
  refused "$command: no header, in a known format" "^mara-lab $command: no_header.csv:1: field '[0-9]" \
    $command --trace no_header.csv --format muri
done
refused "trace: no such file" "^mara-lab trace: absent.csv: no such file" trace absent.csv
refused "trace: a broken row" "^mara-lab trace: long_row.csv:7: 14 fields" trace long_row.csv --fit fitted.json
refused "directory" "folder: is a directory" compare --trace folder
refused "empty file" "empty.csv: the file is empty" compare --trace empty.csv
refused "header only" "header_only.csv: no job" compare --trace header_only.csv
refused "blank lines only" "blank.csv: format: the file has no header" compare --trace blank.csv
refused "binary garbage" "garbage.csv: format: .* begins no known format" compare --trace garbage.csv
refused "binary garbage, in a known format" "garbage.csv:[0-9]+: " compare --trace garbage.csv --format muri
refused "zero byte" "zero_byte.csv: not a text file .*offset 14" compare --trace zero_byte.csv
refused "program file" "not a text file" compare --trace "$MARA_LAB"
refused "one field too many" "long_row.csv:7: 14 fields, the header has 13" compare --trace long_row.csv
refused "one field too few" "short_row.csv:7: 12 fields" compare --trace short_row.csv
refused "quote never closed" "open_quote.csv:7: quote" compare --trace open_quote.csv
refused "missing column" "no_submit_time.csv:1: field 'submit_time': column is missing" compare --trace no_submit_time.csv
refused "unknown column" "other_column.csv:1: field 'gpu_count': unknown column" compare --trace other_column.csv
refused "one column too many" "extra_column.csv:1: field 'colour': unknown column" compare --trace extra_column.csv
refused "repeated column" "twice.csv:1: field 'duration': column appears twice" compare --trace twice.csv
refused "the other format" "field 'job_id': unknown column" compare --trace ../good.csv --format openb

field submit_time -1 "is below 0"
field submit_time nan "is not finite"
field submit_time inf "is not finite"
field submit_time 1e300 "is above"
field submit_time 1e999 "is out of range"
field submit_time soon "is not a number"
field submit_time "" "is not a number"
field submit_time 0x10 "is not a number"
field duration -60000 "is below 0"
field duration NaN "is not finite"
field duration 1e14 "is above"
field num_gpu 0 "is below 1"
field num_gpu -8 "is below 1"
field num_gpu 3 "is not a power of two"
field num_gpu 1.5 "is not a whole number"
field num_gpu 131072 "is above 65536"
field num_gpu 99999999999999999999 "is out of range"
field job_id 4 "appears twice"
field job_id -4 "is below 0"
field priority high "is not a whole number"

# Well-formed traces that the cluster cannot run, in the part to train on and in the part to be judged on.
with_field 7 num_gpu 64 < good.csv > work/large_early.csv
with_field 80 num_gpu 64 < good.csv > work/large_late.csv
small=a100:2x8,v100:2x8,t4:2x8
refused "job larger than the cluster, at the start" "large_early.csv:7: job 5: field 'num_gpu': 64 GPUs" \
  compare --trace large_early.csv --cluster $small
refused "job larger than the cluster, at the end" "large_late.csv:80: job 78: field 'num_gpu': 64 GPUs" \
  compare --trace large_late.csv --cluster $small
refused "tune: job larger than the cluster" "large_early.csv:7: job 5: field 'num_gpu': 64 GPUs" \
  tune --trace large_early.csv --cluster $small
sed 's/,gpt2,/,dqn,/' good.csv | with_field 9 model_name gpt2 > work/memory.csv
refused "model larger than the memory of any GPU" "memory.csv:9: job 7: field 'gpu_memory_mib': 36864 MiB .gpt2" \
  compare --trace memory.csv --cluster v100:2x8,p100:2x8,t4:2x8
finish
