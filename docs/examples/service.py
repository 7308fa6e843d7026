"""A service that uses an exported policy, and goes on after a kill as if nothing had been.

Run it whole, or cell by cell in an editor that knows `# %%`; `python service.py serve 8000` serves until it is ended.
It reads `service-policy.json`, an export, and keeps `service-state.json`, both in the folder that it is run in.

The rule is: first on the disk, then in the answer. Whoever asks gives each request an id and asks again with the same
id until there is an answer. So a kill at any moment loses nothing and counts nothing twice.
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
"""Requests that may wait for their reward; of more, the oldest is given up."""


# %% What is kept: the policy's own state, which holds the random generator too, and which arm each open request got.
class Service:
    """Chooses arms and takes in rewards, each request once however often it is asked."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._recover()

    def _recover(self) -> None:
        """What is on the disk, or a policy fresh from the export."""
        if STATE.exists():
            saved = json.loads(STATE.read_text(encoding="utf-8"))
            self.policy = ravenlab.Policy.from_state(saved["policy"])
            self.waiting: dict[str, int] = saved["waiting"]
        else:
            self.policy, self.waiting = ravenlab.Policy.load(EXPORT, seed=0), {}

    def _keep(self) -> None:
        """Write beside the file, make sure that it is on the disk, then put it in place: all or nothing."""
        beside = STATE.with_suffix(".part")
        try:
            with beside.open("w", encoding="utf-8") as file:
                json.dump({"policy": self.policy.state(), "waiting": self.waiting}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, STATE)
            folder = os.open(STATE.resolve().parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError:
            self._recover()  # what can't be kept has not been
            raise

    def choose(self, request: str) -> int:
        """The arm of a request; the same one if it is asked again."""
        with self.lock:
            if request not in self.waiting:
                self.waiting[request] = self.policy.select()
                if len(self.waiting) > LONGEST:
                    del self.waiting[next(iter(self.waiting))]
                self._keep()
            return self.waiting[request]

    def reward(self, request: str, value: float) -> None:
        """Take in what a request's arm paid; a second time nothing happens."""
        with self.lock:
            if request in self.waiting:
                self.policy.update(self.waiting[request], value)
                del self.waiting[request]
                self._keep()


# %% The same over HTTP: POST /choose {"request": "17"} and POST /reward {"request": "17", "value": 0.7}.
class Handler(BaseHTTPRequestHandler):
    """Answers with JSON; what is wrong with a request is 400, what is wrong with us 500."""

    service: Service

    def do_POST(self) -> None:
        try:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/choose":
                self._answer(200, {"arm": self.service.choose(str(asked["request"]))})
            elif self.path == "/reward":
                self.service.reward(str(asked["request"]), asked["value"])
                self._answer(200, {"taken": True})
            else:
                self._answer(404, {"error": f"there is no {self.path}"})
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
        """Nothing is printed for each request."""


def serving(port: int) -> ThreadingHTTPServer:
    """A server on this machine only; port 0 takes a free one."""
    handler = type("Bound", (Handler,), {"service": Service()})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


# %% `python service.py serve 8000`
if sys.argv[1:2] == ["serve"]:
    server = serving(int(sys.argv[2]))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

# %% Without a recommendation there is nothing to serve, so make a small one. `ravenlab tune` and `export` do the same.
if not EXPORT.exists():
    trials, worlds = int(os.environ.get("EXAMPLE_TRIALS", "50")), int(os.environ.get("EXAMPLE_WORLDS", "100"))
    (found,) = ravenlab.tune(
        "localized-jump",
        2000,
        arms=4,
        trials=trials,
        replications=worlds,
        selection=worlds,
        report=worlds,
        storage="sqlite:///example.sqlite3",
    )
    EXPORT.write_text(ravenlab.export([found.study], storage="sqlite:///example.sqlite3"), encoding="utf-8")


# %% Somebody who asks: the arms pay 0.2, 0.4, 0.6 and 0.8, give or take what the number of the request says.
def ask(port: int, path: str, **content: object) -> dict[str, object]:
    """One request."""
    url = f"http://127.0.0.1:{port}{path}"
    with urlopen(Request(url, json.dumps(content).encode()), timeout=10) as answer:
        return json.load(answer)


def play(port: int, first: int, last: int) -> list[int]:
    """Requests one after the other; gives the arms."""
    arms = []
    for number in range(first, last):
        arm = ask(port, "/choose", request=number)["arm"]
        ask(port, "/reward", request=number, value=0.2 * (arm + 1) + 0.01 * (number * 7 % 20))
        arms.append(arm)
    return arms


# %% Serve, stop in the middle, and go on in a server that knows nothing but the file.
STATE.unlink(missing_ok=True)
arms = []
for first, last in ((0, 40), (40, 80)):
    server = serving(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    arms += play(server.server_port, first, last)
    server.shutdown()
    server.server_close()
print(f"arm 3, the best, in {arms[40:].count(3)} of the last 40 requests, after a restart in the middle")
