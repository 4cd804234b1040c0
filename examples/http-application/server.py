"""A shop's bot behind an address: POST {"question": "…"} returns {"answer": {"text": "…"}}."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FACTS = """within three days, for thirty days, in Leeds, in My account, four pounds, the workshop, at nine, by email,
two years, by a link, at the checkout, the United Kingdom, by the form, cardboard, they are recycled"""


class Bot(BaseHTTPRequestHandler):
    """One request, answered with the option that is a known fact."""

    def do_POST(self) -> None:
        """Read the question, and write the answer."""
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["question"]
        options = [line for line in question.splitlines() if line[1:3] == ". "]
        text = next((line for line in options if line[3:] in FACTS), "I do not know.")
        body = json.dumps({"answer": {"text": text}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8765), Bot).serve_forever()
