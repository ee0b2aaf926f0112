# Reads an example for the official Python library without that library: finds its one call, takes
# its literal arguments, and sends them as the library would, with httpx where it is installed and
# with urllib otherwise. The call is messages.create, messages.stream, or create with the raw answer.
import ast
import json
import os
import sys
import urllib.request

CREATE = ".messages.create"
STREAM = ".messages.stream"
RAW = ".messages.with_raw_response.create"


def main():
    kind, body = read_example(sys.argv[1])
    if kind == STREAM:
        # As the library does.
        body["stream"] = True
    text, headers = send(body)
    if kind == STREAM:
        print("".join(deltas(text)))
        return
    if kind == RAW:
        print(headers["x-credit-charged"], headers["x-credit-balance"])
    print(json.loads(text)["content"][0]["text"])


def read_example(source):
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert "Anthropic" in [alias.name for one in imports for alias in one.names], "it imports the library"
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    clients = [call for call in calls if getattr(call.func, "id", "") == "Anthropic"]
    assert len(clients) == 1 and not clients[0].args, "it makes one client"
    found = [
        (kind, call)
        for call in calls
        for kind in (CREATE, STREAM, RAW)
        if ast.unparse(call.func).endswith(kind)
    ]
    assert len(found) == 1, "it asks once"
    kind, call = found[0]
    if kind == RAW:
        for header in ("x-credit-charged", "x-credit-balance"):
            assert f'.headers["{header}"]' in source, "it reads the cost"
    return kind, {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def send(body):
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
        return response.text, response.headers
    except ImportError:
        print("replayed with urllib", file=sys.stderr)
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode(), answer.headers


def deltas(text):
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    events = [json.loads(line) for line in lines]
    assert events[-1]["type"] == "message_stop", "the stream is complete"
    return [one["delta"].get("text", "") for one in events if one["type"] == "content_block_delta"]


main()
