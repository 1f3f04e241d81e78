#!/usr/bin/env bash
# Writes datasets/golden/{range,roundrobin}.jsonl anew: generated groups and the plans that the released classes choose.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
golden=$here/../../../datasets/golden
mvn -q -B -f "$here/pom.xml" package
java -jar "$here/target/java-peer.jar" --version
mkdir -p "$golden"
for assignor in range roundrobin; do
  java -cp "$here/target/java-peer.jar" tenure.peer.GroupGenerator "$assignor" 30 429 |
    java -jar "$here/target/java-peer.jar" --golden >"$golden/$assignor.jsonl"
  if grep -n '^{"error"' "$golden/$assignor.jsonl"; then
    echo "$assignor: the class refused the groups above" >&2
    exit 1
  fi
  wc -l "$golden/$assignor.jsonl"
done
