# Hostile clients of the fault program `unread`, with receive buffers of a few kilobytes, which
# Node's sockets cannot have: unread replies then wait in the gateway, not in the kernel.
# Arguments: port, key, seconds, and how many connections of each kind. Prints one line of counts.
import json
import socket
import sys
import time

port, key, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
unread, pipelining, heads, bodies = (int(one) for one in sys.argv[4:8])
# A step every 50 ms; each connection acts in one of twenty, once a second, and they take turns: a
# flood would measure the processor, not what unread replies cost.
STEP_SECONDS = 0.05
STEPS_PER_SECOND = 20
# Connections opened in one step: all are open within two seconds, without a burst.
OPENED_MAX = 20
counts = {"sent": 0, "blocked": 0, "closed": 0, "reopened": 0}


def dial():
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
    one.connect(("127.0.0.1", port))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    one.setblocking(False)
    return one


def head_of(path, *lines):
    return "\r\n".join([path + " HTTP/1.1", "host: x", *lines, "", ""]).encode()


# Needs no key and answers 40 KB: the largest reply that a client without a key can request.
ASK = head_of("GET /openapi.json")
# The limit of unanswered requests on one connection.
PIPELINE = ASK * 16
HEAD = head_of("GET /api/hello", "x-slow: " + "y" * 1000)
BODY = head_of(
    "POST /v1/messages", "x-api-key: " + key, "content-type: application/json", "content-length: 1000000"
) + b"{" + b" " * 100000


class Client:
    def __init__(self, kind, number):
        self.kind = kind
        self.number = number
        self.socket = dial()
        self.at = 0

    def send(self, data):
        try:
            self.at += self.socket.send(data)
            counts["sent"] += 1
        except BlockingIOError:
            counts["blocked"] += 1
        except OSError:
            counts["closed"] += 1
            self.socket.close()
            self.socket = None

    def step(self, turn):
        if (turn + self.number) % STEPS_PER_SECOND != 0:
            return
        if self.socket is None:
            self.socket, self.at = dial(), 0
            counts["reopened"] += 1
        elif self.kind == "unread":
            self.send(ASK)
        elif self.kind == "pipelining":
            self.send(PIPELINE)
        elif self.kind == "head":
            self.send(HEAD[self.at : self.at + 1])
        elif self.kind == "body" and self.at < len(BODY):
            self.send(BODY[self.at :])


kinds = ["unread"] * unread + ["pipelining"] * pipelining + ["head"] * heads + ["body"] * bodies
clients = []
end = time.monotonic() + seconds
turn = 0
while time.monotonic() < end:
    began = time.monotonic()
    for kind in kinds[len(clients) : len(clients) + OPENED_MAX]:
        clients.append(Client(kind, len(clients)))
    for client in clients:
        client.step(turn)
    turn += 1
    time.sleep(max(0, STEP_SECONDS - (time.monotonic() - began)))
print(json.dumps({**counts, "connections": len(clients)}), flush=True)
