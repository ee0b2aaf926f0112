# Reads an example for the official Python library without that library: finds the one call of
# messages.create, takes its literal arguments, and sends them as the library would, with httpx where
# it is installed and with urllib otherwise.
import ast
import json
import os
import sys

tree = ast.parse(sys.argv[1])
names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
assert "Anthropic" in names, "the example imports the library"
calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
clients = [call for call in calls if getattr(call.func, "id", "") == "Anthropic"]
assert len(clients) == 1 and not clients[0].args, "the example makes one client"
creates = [call for call in calls if ast.unparse(call.func).endswith(".messages.create")]
assert len(creates) == 1, "the example asks once"
body = {keyword.arg: ast.literal_eval(keyword.value) for keyword in creates[0].keywords}

url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
headers = {
    "x-api-key": os.environ["ANTHROPIC_API_KEY"],
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
}
try:
    import httpx

    print("replayed with httpx", file=sys.stderr)
    response = httpx.post(url, headers=headers, json=body)
    response.raise_for_status()  # in a line of its own: Debian's version returns nothing
    reply = response.json()
except ImportError:
    import urllib.request

    print("replayed with urllib", file=sys.stderr)
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        reply = json.load(answer)
print(reply["content"][0]["text"])
