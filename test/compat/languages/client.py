# One call with httpx, plain or streaming as the body asks; prints what a program would see.
import json
import os

import httpx

body = os.environ["GATEWAY_BODY"]
headers = {"x-api-key": os.environ["GATEWAY_KEY"], "content-type": "application/json"}
url = os.environ["GATEWAY_URL"] + "/v1/messages"
text, last = "", None

with httpx.Client(timeout=20) as client:
    if not json.loads(body)["stream"]:
        reply = client.post(url, headers=headers, content=body.encode())
        status = reply.status_code
        text = "".join(block["text"] for block in reply.json()["content"])
    else:
        with client.stream("POST", url, headers=headers, content=body.encode()) as reply:
            status = reply.status_code
            for line in reply.iter_lines():
                if not line.startswith("data: "):
                    continue
                event = json.loads(line[6:])
                last = event["type"]
                if last == "content_block_delta":
                    text += event["delta"]["text"]

print(json.dumps({"status": status, "text": text, "last": last}))
