#!/usr/bin/env bash
# A real single-node Kafka (KRaft) on loopback, from Maven jars, for interop tests and for samples of tool output.
#
#   broker.sh start FOLDER [VERSION]   starts a broker with its files in FOLDER, waits until it answers, and writes
#                                      FOLDER/bootstrap (host:port) and FOLDER/pid
#   broker.sh stop FOLDER              stops it, by that pid, and waits until it is gone
#   broker.sh hold FOLDER [VERSION]    starts one as above, prints host:port, and when standard input ends, however that
#                                      comes about, stops it and removes FOLDER
#   broker.sh jars VERSION [SCALA]     fetches the jars of a version and prints their folder (for java -cp 'DIR/*')
#
# TENURE_KAFKA_JARS is where jars are kept (default: target/kafka beside this script). Extra lines for the broker's
# properties are read from TENURE_BROKER_PROPERTIES, a file, if that is set; %port% and %controller% in it stand for the
# ports of the two listeners.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
newest=4.4.0

jars() {
  local version=$1 scala=${2:-2.13}
  local folder=${TENURE_KAFKA_JARS:-$here/target/kafka}/$scala-$version
  if [ ! -e "$folder/complete" ]; then
    local tools=()
    case $version in [0-2].*) ;; *) tools=(-Ptools) ;; esac
    mvn -q -B -f "$here/broker/pom.xml" "${tools[@]}" dependency:copy-dependencies -DincludeScope=runtime \
      -Dkafka.version="$version" -Dscala.version="$scala" -DoutputDirectory="$folder" >&2
    touch "$folder/complete"
  fi
  echo "$folder"
}

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      return
    fi
  done
}

start() {
  local folder=$1 version=${2:-$newest} jars port controller
  if [ -e "$folder/pid" ] && kill -0 "$(cat "$folder/pid")" 2>/dev/null; then
    echo "a broker runs in $folder already" >&2
    exit 1
  fi
  jars=$(jars "$version")
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  port=$(free_port)
  controller=$(free_port)
  while [ "$controller" = "$port" ]; do controller=$(free_port); done
  cat >"$folder/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$folder/data
num.partitions=1
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=4
group.initial.rebalance.delay.ms=0
PROPERTIES
  if [ -n "${TENURE_BROKER_PROPERTIES:-}" ]; then
    sed -e "s/%port%/$port/g" -e "s/%controller%/$controller/g" "$TENURE_BROKER_PROPERTIES" >>"$folder/server.properties"
  fi
  # The cluster id is 16 bytes, base64url: any will do, this one is always the same.
  java -XX:TieredStopAtLevel=1 -cp "$jars/*" kafka.tools.StorageTool format --ignore-formatted \
    -t dGVudXJlLXBlZXItMDAwMQ -c "$folder/server.properties" >"$folder/format.log" 2>&1 ||
    { cat "$folder/format.log" >&2; exit 1; }
  (cd "$folder" && exec setsid java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$jars/*" kafka.Kafka server.properties >broker.log 2>&1 </dev/null) &
  echo $! >"$folder/pid"
  echo "127.0.0.1:$port" >"$folder/bootstrap"
  for _ in $(seq 240); do
    if ! kill -0 "$(cat "$folder/pid")" 2>/dev/null; then
      echo "the broker ended; the last of $folder/broker.log:" >&2
      tail -20 "$folder/broker.log" >&2
      exit 1
    fi
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      cat "$folder/bootstrap"
      return
    fi
    sleep 0.25
  done
  echo "the broker did not answer within a minute; see $folder/broker.log" >&2
  stop "$folder"
  exit 1
}

stop() {
  local folder=$1 pid
  [ -e "$folder/pid" ] || return 0
  pid=$(cat "$folder/pid")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 120); do
    if ! kill -0 "$pid" 2>/dev/null; then
      rm -f "$folder/pid" "$folder/bootstrap"
      return
    fi
    sleep 0.25
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$folder/pid" "$folder/bootstrap"
}

hold() {
  # Whoever holds the other end of standard input may be killed: the broker must not outlive it.
  held=$1
  trap 'stop "$held"; rm -rf "$held"' EXIT
  trap 'exit 1' INT TERM HUP
  start "$held" "$2"
  while read -r _; do :; done
}

case "${1:-}" in
  start) start "${2:?a folder for the broker}" "${3:-$newest}" ;;
  stop) stop "${2:?the folder of the broker}" ;;
  hold) hold "${2:?a folder for the broker}" "${3:-$newest}" ;;
  jars) jars "${2:?a Kafka version}" "${3:-2.13}" ;;
  *)
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
