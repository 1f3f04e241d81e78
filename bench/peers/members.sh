#!/usr/bin/env bash
# Group members of other clients: fetches and builds one, and prints the command that runs it, a word a line.
#
#   members.sh java VERSION     kafka-clients of that version (2.4 or later)
#   members.sh java-producer    a transactional producer: see java/members/ZombieProducer.java
#   members.sh franz            franz-go
#   members.sh librdkafka       confluent-kafka for Python
#   members.sh kafka-python     kafka-python
#
# The members take the same lines on standard input and print the same JSON lines: see java/members/MemberHost.java.
# What is fetched and built is kept in TENURE_PEERS_CACHE (default: ~/.cache/tenure-peers).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TENURE_PEERS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tenure-peers}
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9

java_jars() {
  local folder=$cache/java/$1
  if [ ! -e "$folder/complete" ]; then
    mvn -q -B -f "$here/java/members/pom.xml" dependency:copy-dependencies -Dkafka.version="$1" \
      -DoutputDirectory="$folder" >&2
    touch "$folder/complete"
  fi
}

java_member() {
  local oldest=2.4.1 classes=$cache/java/classes
  java_jars "$oldest"
  java_jars "$1"
  if [ ! "$classes/MemberHost.class" -nt "$here/java/members/MemberHost.java" ]; then
    javac --release 11 -d "$classes" -cp "$cache/java/$oldest/*" "$here/java/members/MemberHost.java" >&2
  fi
  printf '%s\n' java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$classes:$cache/java/$1/*" MemberHost
}

java_producer() {
  local newest=4.4.0 classes=$cache/java/producer
  java_jars "$newest"
  if [ ! "$classes/ZombieProducer.class" -nt "$here/java/members/ZombieProducer.java" ]; then
    javac --release 11 -d "$classes" -cp "$cache/java/$newest/*" "$here/java/members/ZombieProducer.java" >&2
  fi
  printf '%s\n' java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$classes:$cache/java/$newest/*" ZombieProducer
}

franz_member() {
  local binary=$cache/go/members
  if [ ! "$binary" -nt "$here/go/members/main.go" ] || [ ! "$binary" -nt "$here/go/members/go.mod" ]; then
    (cd "$here/go/members" && go build -o "$binary" .) >&2
  fi
  printf '%s\n' "$binary"
}

python_member() {
  local venv=$cache/python
  if [ ! "$venv/complete" -nt "$here/python/requirements.txt" ]; then
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install -q --only-binary :all: --disable-pip-version-check -r "$here/python/requirements.txt" >&2
    touch "$venv/complete"
  fi
  printf '%s\n' "$venv/bin/python" -u "$here/python/members.py" "$1"
}

case "${1:-}" in
  java) java_member "${2:?a version of kafka-clients}" ;;
  java-producer) java_producer ;;
  franz) franz_member ;;
  librdkafka | kafka-python) python_member "$1" ;;
  *)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
