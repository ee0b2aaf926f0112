#!/bin/bash
# Gives the role of primary to another node when this node's disk is nearly full. PostgreSQL refuses
# every charge then, but it runs and stays the primary, so Patroni sees nothing to do. Runs as
# `postgres` on each node (disk-guard.service), with the node's own name and address below. A disk that
# the database itself fills is as full on the other nodes: the alarm comes first, this only gains time.
set -uo pipefail
node=node-1
api=https://10.0.0.1:8008
data=/var/lib/postgresql/tollgate
tls=/etc/patroni/tls
used_percent_max=95
# If all nodes are full, the role must not go round and round.
pause_seconds=600

ask() {
  curl --silent --fail --max-time 60 --output /dev/null \
    --cacert $tls/ca.pem --cert $tls/node.pem --key $tls/node.key "$@"
}

while sleep 3; do
  used=$(df --output=pcent "$data" 2>/dev/null | tr -dc '0-9')
  [ "${used:-0}" -gt $used_percent_max ] || continue
  ask "$api/primary" || continue
  echo "the disk of $data is full to $used %: another node becomes the primary"
  ask --request POST --data "{\"leader\": \"$node\"}" "$api/switchover" && sleep $pause_seconds
done
