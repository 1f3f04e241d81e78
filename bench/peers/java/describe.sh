#!/usr/bin/env bash
# Writes the samples of datasets/describe anew: real brokers, real consumers, and the real kafka-consumer-groups.sh
# of many versions. Client ids and layouts stay the same from run to run, the random parts of member ids don't.
# The expected .json beside each sample must then be written anew too; see datasets/describe/README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
samples=$here/../../../datasets/describe
work=$(mktemp -d)
members=()
stop() {
  for pid in "${members[@]:-}"; do [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; done
  "$here/broker.sh" stop "$work/broker"
  rm -rf "$work"
}
trap stop EXIT

mvn -q -B -f "$here/pom.xml" package
mkdir -p "$samples"

# scene NAME: starts the groups of scenes/NAME.json and waits until they stand.
scene() {
  local name=$1 pipe=$work/$1.pipe out=$work/$1.out
  mkfifo "$pipe"
  java -cp "$here/target/java-peer.jar" tenure.peer.GroupMembers "$(cat "$work/broker/bootstrap")" \
    <"$pipe" >"$out" 2>&1 &
  members+=($!)
  # The descriptor stays open, so that the members stay.
  exec {held}>"$pipe"
  tr -d '\n' <"$here/scenes/$name.json" >&"$held"
  echo >&"$held"
  for _ in $(seq 120); do
    grep -q ready "$out" && return
    sleep 0.5
  done
  cat "$out" >&2
  exit 1
}

# tool VERSION ARGUMENTS…: what the tool of that version prints.
tool() {
  local version=$1 main=kafka.admin.ConsumerGroupCommand scala=2.12
  shift
  case $version in
    0.9.* | 0.10.0.*) scala=2.11 ;;
    3.* | 4.*) scala=2.13 ;;
  esac
  case $version in 3.[89].* | 4.*) main=org.apache.kafka.tools.consumer.group.ConsumerGroupCommand ;; esac
  java -cp "$("$here/broker.sh" jars "$version" "$scala")/*" "$main" \
    --bootstrap-server "$(cat "$work/broker/bootstrap")" "$@" 2>&1
}

# sample FILE VERSION ARGUMENTS…: the same into a file; with + before FILE it is added to it.
sample() {
  local file=$1
  shift
  case $file in
    +*) tool "$@" | quiet >>"$samples/${file#+}.txt" ;;
    *) tool "$@" | quiet >"$samples/$file.txt" ;;
  esac
  echo "$file"
}

# Logging is not configured here, of which the libraries complain; one sample keeps it.
quiet() { grep -v -E '^(SLF4J|log4j)' || true; }

"$here/broker.sh" start "$work/broker" 3.9.1
scene describe
sample 0.9-describe 0.9.0.1 --new-consumer --describe --group checkout
sample 0.9-describe-wide 0.9.0.1 --new-consumer --describe --group 'nightly billing run (north)'
sample 0.10.0-describe 0.10.0.1 --new-consumer --describe --group checkout
sample 0.10.2-describe 0.10.2.2 --new-consumer --describe --group checkout
sample 0.10.2-wide 0.10.2.2 --new-consumer --describe --group 'nightly billing run (north)'
sample 0.11-no-active-members 0.11.0.3 --describe --group empty
sample 1.0-rebalancing 1.0.2 --describe --group stuck
sample 1.0-idle-member 1.0.2 --describe --group checkout
sample 1.1-members-verbose 1.1.1 --describe --group checkout --members --verbose
sample 1.1-both-tables 1.1.1 --describe --group fixed
sample +1.1-both-tables 1.1.1 --describe --group fixed --members
sample 2.0-members-and-state 2.0.1 --describe --group checkout --state
sample +2.0-members-and-state 2.0.1 --describe --group checkout --members --verbose
sample 2.4-all-groups 2.4.1 --describe --all-groups
sample 2.4-all-groups-members-verbose 2.4.1 --describe --all-groups --members --verbose
sample 2.4-state-only 2.4.1 --describe --all-groups --state
sample 3.4-static-members-verbose 3.4.1 --describe --group fixed --members --verbose
sample 3.4-all-groups-both 3.4.1 --describe --all-groups --state
sample +3.4-all-groups-both 3.4.1 --describe --all-groups --members --verbose
sample +3.4-all-groups-both 3.4.1 --describe --all-groups
sample 3.9-members-without-topics 3.9.1 --describe --group fixed --members --verbose
sample 3.9-members-and-offsets 3.9.1 --describe --group fixed --members --verbose
sample +3.9-members-and-offsets 3.9.1 --describe --group fixed
tool 2.4.1 --describe --group checkout >"$samples/2.4-log-lines.txt"
sample 3.4-no-such-group 3.4.1 --describe --group nowhere
for pid in "${members[@]}"; do kill "$pid" || true; done
members=()
"$here/broker.sh" stop "$work/broker"
rm -rf "$work/broker" "$work"/*.pipe

"$here/broker.sh" start "$work/broker" 4.4.0
scene describe
scene next
sample 4.0-members-verbose 4.0.0 --describe --group next --members --verbose
sample 4.4-describe 4.4.0 --describe --group checkout
sample 4.4-offsets-verbose 4.4.0 --describe --all-groups --offsets --verbose
sample 4.4-members 4.4.0 --describe --all-groups --members
sample 4.4-members-and-offsets 4.4.0 --describe --all-groups --members
sample +4.4-members-and-offsets 4.4.0 --describe --all-groups
sample 4.4-members-verbose 4.4.0 --describe --all-groups --members --verbose
sample 4.4-state-verbose 4.4.0 --describe --all-groups --state --verbose
sample +4.4-state-verbose 4.4.0 --describe --all-groups --members --verbose
sample 4.4-no-such-group 4.4.0 --describe --group nowhere
