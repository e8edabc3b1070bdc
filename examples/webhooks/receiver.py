# A webhook receiver in Python 3, without packages.
# WEBHOOK_SECRET=whsec_… PORT=3000 python3 receiver.py
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1024 * 1024


def verify_webhook(secret, headers, raw_body, now=None):
    """True when raw_body (the bytes as they came, before any parsing) was signed with secret
    within the last five minutes. headers is any mapping that ignores case."""
    timestamp = headers.get("X-Service-Timestamp") or ""
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    text = timestamp.encode() + b"." + raw_body
    expected = "sha256=" + hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    # After a rotation the secret before it signs too, for 24 hours.
    given = [headers.get("X-Service-Signature"), headers.get("X-Service-Signature-Previous")]
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in given if one)


seen = set()


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_BYTES_MAX:
            return self.answer(413)
        raw_body = self.rfile.read(length)
        if not verify_webhook(os.environ.get("WEBHOOK_SECRET", ""), self.headers, raw_body):
            return self.answer(401)
        event = json.loads(raw_body)
        # A delivery may arrive more than once: keep this set in your database.
        if event["task_id"] not in seen:
            seen.add(event["task_id"])
            print(event["task_id"], event["status"], flush=True)
        # Answer within 10 seconds; do the real work afterwards.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver)
    print("listening on", server.server_port, flush=True)
    server.serve_forever()
