# A listening socket that outlives programs, as systemd keeps it for a unit with `Sockets=`.
#   kept-socket.py keep PATH       opens one, prints its port, and gives it to all who ask at PATH
#   kept-socket.py run PATH ARG... becomes the program ARG..., with the socket as descriptor 3
import os
import socket
import sys

verb, path, *program = sys.argv[1:]
if verb == "keep":
    kept = socket.create_server(("127.0.0.1", 0), backlog=4096)
    asked = socket.socket(socket.AF_UNIX)
    asked.bind(path)
    asked.listen()
    print(kept.getsockname()[1], flush=True)
    while True:
        with asked.accept()[0] as asker:
            socket.send_fds(asker, [b"."], [kept.fileno()])
else:
    with socket.socket(socket.AF_UNIX) as asker:
        asker.connect(path)
        descriptor = socket.recv_fds(asker, 1, 1)[1][0]
    # The copy is inheritable, unlike the received one. They may be the same number.
    if descriptor == 3:
        os.set_inheritable(3, True)
    else:
        os.dup2(descriptor, 3)
        os.close(descriptor)
    given = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
    os.execve(program[0], program, {**os.environ, **given})
