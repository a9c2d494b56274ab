# --help explains every option of every command, on stdout, and exits with 0.
. "$(dirname "$0")/lab.sh"

explained() { # explained COMMAND OPTION...: each is followed by an explanation of at least three words
  command=$1
  shift
  accepted "$command --help" "$command" --help
  expect "$command --help: nothing on stderr" test ! -s seen/err
  expect "$command --help: at most 100 columns" awk 'length($0) > 100 { exit 1 }' seen/out
  for option in "$@"; do
    checks=$((checks + 1))
    # The explanation follows on the line, or on the next when the names leave no room.
    awk -v option="$option" '
      $0 ~ "^ +(-[a-z],)?" option "( |$)" { found = 1; text = $0; getline; text = text " " $0; exit }
      END { exit !(found && split(text, words, " ") > 4) }' seen/out || fail "$command --help does not explain $option"
  done
  # And no option is left out of this test.
  grep -Eo '^  --[a-z-]+' seen/out | tr -d ' ' | sort > seen/shown
  for option in "$@"; do echo "$option"; done | grep -e '^--' | sort > seen/known
  expect "$command --help: $(diff seen/known seen/shown | grep '^[<>]')" cmp -s seen/known seen/shown
}
explained compare --trace --format --model --cluster --load --steps --flow-steps --seeds --seed --threads --expert --out --json
explained tune --trace --format --model --cluster --load --iterations --population --seed --threads --expert --out --json
explained trace file --format --throughputs --fit --out --json
explained train --env --learner --steps --seeds --seed --evaluate-every --episodes --episode-steps --stop-at --patience --log-every --threads --resume --overwrite --out --json \
  --critic --environments --hidden --recurrence --memory --separate --no-ids --reward --reward-scale --learning-rate --gamma --lambda --collect-steps --sequence-steps --batch --updates --epochs --clip --entropy --replay --n-step --dueling --epsilon-end --epsilon-steps --target-period --tau
explained evaluate run --episodes --seed --json
explained games --env --learner --seeds --threads --json
accepted "--help" --help
for command in compare tune trace train evaluate games simulate validate; do
  expect "--help names $command" grep -Eq "^ +$command +[A-Z]" seen/out
done
refused "an unknown command with --help" "^mara-lab: unknown command 'trian'" trian --help
refused "an unknown command" "^mara-lab: unknown command 'trian'" trian --steps 3
finish
