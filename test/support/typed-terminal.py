# Runs a program in a terminal of its own and types an answer after each question.
# python3 typed-terminal.py '[["Question: ", "answer\r"], …]' program arguments…
# Prints what the terminal shows, then "exited <code>" or "still running" 5 s after the last answer.
import json
import os
import pty
import select
import sys
import time

answers, program = json.loads(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
shown = b""


def read(seconds):
    """False at the end of the program's output."""
    global shown
    if terminal not in select.select([terminal], [], [], seconds)[0]:
        return True
    try:
        shown += os.read(terminal, 4096)
        return True
    except OSError:
        return False


for question, answer in answers:
    deadline = time.monotonic() + 30
    while question.encode() not in shown and time.monotonic() < deadline and read(0.1):
        pass
    # The program reads only after it has written its question.
    time.sleep(0.2)
    os.write(terminal, answer.encode())
deadline = time.monotonic() + 5
ended = 0
while ended == 0 and time.monotonic() < deadline:
    read(0.1)
    ended, status = os.waitpid(pid, os.WNOHANG)
if ended == 0:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
print(shown.decode())
print("still running" if ended == 0 else f"exited {os.waitstatus_to_exitcode(status)}")
