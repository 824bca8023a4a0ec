# SPDX-License-Identifier: MIT
"""A browser without a window, driven over the DevTools protocol through two pipes.

Only the standard library: messages are JSON, each ended by a zero byte, on descriptors 3 and 4 of
the browser.  Whatever a page asks of the network, says on its console or throws is kept.
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The path of a browser, or None."""
    chosen = os.environ.get("CCLTAP_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with one page.  Use it in a with statement."""

    def __init__(self, program, width=1280, height=900, is_dark=False):
        self.home = tempfile.TemporaryDirectory(prefix="ccltap-page.")
        self.requests, self.complaints = [], []
        self.number, self.buffer, self.answers, self.events = 0, b"", {}, []
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()
        # The browser expects them at 3 and 4; they must not be what dup2() replaces.
        ends = [os.dup2(end, 20 + at, inheritable=False)
                for at, end in enumerate((to_browser, from_browser))]

        def place():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={self.home.name}/profile", "about:blank"],
            env=dict(os.environ, HOME=self.home.name), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place,
            pass_fds=(3, 4), start_new_session=True)
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.look(is_dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end in (self.to_browser, self.from_browser):
            os.close(end)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.home.cleanup()

    # ---- Messages ----

    def read(self, seconds):
        """Takes the next message, or None when none comes in that time."""
        until = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.from_browser], [], [], left)[0]:
                return None
            part = os.read(self.from_browser, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(params["type"] + ": " + json.dumps(params["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method:
            self.events.append(method)

    def call(self, method, seconds=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            answer = self.read(until - time.monotonic())
            if answer and answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer:
                self.note(answer)
        raise TimeoutError(f"{method} has no answer after {seconds} s")

    # ---- What a test does ----

    def look(self, is_dark, media=""):
        self.call("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def open(self, path, seconds=60):
        """Opens a file, waits until it is complete, and returns after how many seconds it was."""
        begin = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while time.monotonic() < begin + seconds:
            if self.ask("document.readyState === 'complete' && "
                        "document.documentElement.dataset.ready === 'yes'"):
                return time.monotonic() - begin
            if self.complaints:
                raise RuntimeError(self.complaints[0])
            time.sleep(0.02)
        raise TimeoutError("the page is not ready")

    def open_anyway(self, path):
        """Opens a file of which the browser may complain."""
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.settle()

    def ask(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def key(self, key, text=None):
        text = text if text is not None else (key if len(key) == 1 else None)
        down = {"type": "keyDown", "key": key}
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def shot(self, path, clip=None, whole=False):
        more = {"clip": dict(clip, scale=1)} if clip else {}
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **more)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def settle(self):
        """Takes what the browser still has to say."""
        while True:
            message = self.read(0.3)
            if not message:
                return
            self.note(message)
