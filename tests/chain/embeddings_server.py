"""An endpoint for embeddings on loopback that speaks OpenAI's protocol, and knows a few words by what they mean."""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONCEPTS = (
    "car automobile vehicle truck",
    "database postgres sql table",
    "sad unhappy grief sorrow",
    "bake oven bread dough",
    "deploy release ship rollout",
    "汽车 轿车 车辆",
)


def vector_of(text: str, dimensions: int = 16) -> list[float]:
    """One number a concept, and a little of something that every text has."""
    words = set(re.findall(r"[a-z]+|[一-鿿]{2}", text.lower()))
    found = [float(len(words & set(concept.split()))) for concept in CONCEPTS]
    return [*found, 0.1, *[0.0] * dimensions][: max(dimensions, 1)]


class EmbeddingsServer:
    """`with EmbeddingsServer() as server`: what was asked stands in `requests`; the fields say how it answers."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.keys: list[str] = []
        self.dimensions = 16
        self.status = 200
        self.delay = 0.0
        self.answer: bytes | None = None
        """Sent instead of vectors."""
        self.refused = "\0"
        """A request that holds a text with this is answered by 400."""
        self.longest = 1_000_000
        self.by_length = False
        """Vectors as long as their texts, as no model has them."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append({"path": self.path, **body})
                outer.keys.append(self.headers["authorization"])
                time.sleep(outer.delay)
                status, data = outer.answered(body)
                try:
                    self.send_response(status)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    return  # whoever asked did not wait

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def answered(self, body: dict) -> tuple[int, bytes]:
        texts = body["input"]
        if self.status != 200:
            return self.status, b"{}"
        if any(self.refused in text or len(text) > self.longest for text in texts):
            return 400, b'{"error": {"message": "input is too large"}}'
        if self.answer is not None:
            return 200, self.answer
        size = body.get("dimensions", self.dimensions)
        vectors = [vector_of(text, len(text) if self.by_length else size) for text in texts]
        data = [{"object": "embedding", "index": number, "embedding": vector} for number, vector in enumerate(vectors)]
        return 200, json.dumps({"object": "list", "model": body["model"], "data": data[::-1]}).encode()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request["input"]]

    def __enter__(self) -> EmbeddingsServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
