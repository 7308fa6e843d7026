"""A service that uses an exported policy and resumes after being killed.

Run the whole script, or its cells (`# %%`) one at a time in an editor; `python service.py serve 8000` starts a
server. It reads `service-policy.json`, an export, and writes `service-state.json`, both in the current folder.

The state is written to disk before a response is sent. Clients give each request an ID and repeat it with the same ID
until they receive a response. So a kill at any moment loses nothing and counts nothing twice.
"""

# %%
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

import ravenlab

EXPORT, STATE = Path("service-policy.json"), Path("service-state.json")
LONGEST = 10_000
"""Maximum number of requests without a reward; the oldest are dropped."""


# %% The stored state: the policy's state, including its random generator, and the arms of open requests.
class Service:
    """Chooses arms and processes rewards; repeated requests have no further effect."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._recover()

    def _recover(self) -> None:
        """Load the stored state, or the policy from the export."""
        if STATE.exists():
            saved = json.loads(STATE.read_text(encoding="utf-8"))
            self.policy = ravenlab.Policy.from_state(saved["policy"])
            self.waiting: dict[str, int | str] = saved["waiting"]
        else:
            self.policy, self.waiting = ravenlab.Policy.load(EXPORT, seed=0), {}

    def _save(self) -> None:
        """Replace the state file atomically."""
        temporary = STATE.with_suffix(".part")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                json.dump({"policy": self.policy.state(), "waiting": self.waiting}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, STATE)
            folder = os.open(STATE.resolve().parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError:
            self._recover()  # discard the change that could not be saved
            raise

    def choose(self, request: str) -> int | str:
        """Return the number or name of the arm of a request; a repeated request gets the same arm."""
        with self.lock:
            if request not in self.waiting:
                self.waiting[request] = self.policy.select()
                if len(self.waiting) > LONGEST:
                    del self.waiting[next(iter(self.waiting))]
                self._save()
            return self.waiting[request]

    def reward(self, request: str, value: float) -> None:
        """Process the reward of a request once; it is a cost if the policy was tuned on costs."""
        with self.lock:
            if request in self.waiting:
                self.policy.update(self.waiting[request], value)
                del self.waiting[request]
                self._save()


# %% The HTTP interface: POST /choose {"request": "17"} and POST /reward {"request": "17", "value": 0.7}.
class Handler(BaseHTTPRequestHandler):
    """Responds with JSON; 400 for an invalid request, 500 for an error of the service."""

    service: Service

    def do_POST(self) -> None:
        try:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/choose":
                self._answer(200, {"arm": self.service.choose(str(content["request"]))})
            elif self.path == "/reward":
                self.service.reward(str(content["request"]), content["value"])
                self._answer(200, {"taken": True})
            else:
                self._answer(404, {"error": f"unknown path {self.path}"})
        except (KeyError, TypeError, ValueError) as error:
            self._answer(400, {"error": str(error)})
        except OSError as error:
            self._answer(500, {"error": str(error)})

    def _answer(self, status: int, content: dict[str, object]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Do not log requests."""


def serving(port: int) -> ThreadingHTTPServer:
    """Create a server on 127.0.0.1; port 0 selects a free port."""
    handler = type("Bound", (Handler,), {"service": Service()})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


# %% `python service.py serve 8000`
if sys.argv[1:2] == ["serve"]:
    server = serving(int(sys.argv[2]))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

# %% Create a small export if there is none. `ravenlab tune` and `ravenlab export` do the same.
if not EXPORT.exists():
    trials, worlds = int(os.environ.get("EXAMPLE_TRIALS", "50")), int(os.environ.get("EXAMPLE_WORLDS", "100"))
    recommendation = ravenlab.tune(
        "localized-jump",
        2000,
        arms=4,
        trials=trials,
        replications=worlds,
        selection=worlds,
        report=worlds,
        storage="sqlite:///example.sqlite3",
    )
    EXPORT.write_text(ravenlab.export([recommendation.study], storage="sqlite:///example.sqlite3"), encoding="utf-8")


# %% A client. The arms pay 0.2, 0.4, 0.6 and 0.8 plus a small value that depends on the request.
def ask(port: int, path: str, **content: object) -> dict[str, object]:
    """Send one request."""
    url = f"http://127.0.0.1:{port}{path}"
    with urlopen(Request(url, json.dumps(content).encode()), timeout=10) as answer:
        return json.load(answer)


def play(port: int, first: int, last: int) -> list[int]:
    """Send requests one after another and return the arms."""
    arms = []
    for number in range(first, last):
        arm = ask(port, "/choose", request=number)["arm"]
        ask(port, "/reward", request=number, value=0.2 * (arm + 1) + 0.01 * (number * 7 % 20))
        arms.append(arm)
    return arms


# %% Serve, stop, and resume with a new server from the state file.
STATE.unlink(missing_ok=True)
arms = []
for first, last in ((0, 40), (40, 80)):
    server = serving(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    arms += play(server.server_port, first, last)
    server.shutdown()
    server.server_close()
print(f"arm 3, the best, in {arms[40:].count(3)} of the last 40 requests, after a restart in the middle")
