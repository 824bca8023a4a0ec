#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Asks the server of `ccltap view` as a browser would, and as a stranger might.

usage: view.py requests ADDRESS         # which ccltap printed
       view.py gets ADDRESS             # asks for the trace alone
       view.py browser ADDRESS TEXT...  # each TEXT is on the page of Perfetto
       view.py listens ADDRESS          # prints where it listens: in hexadecimal digits, of /proc/net/tcp

Prints lines of TAP without numbers.
"""
import os
import re
import select
import socket
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import chromium  # noqa: E402


def ok(is_right, sentence, *details):
    print(("ok - " if is_right else "not ok - ") + sentence)
    if not is_right:
        for detail in details:
            print("#", str(detail)[:600].replace("\n", " | "))
    sys.stdout.flush()


def ask(port, head, host="127.0.0.1"):
    """The status, the head and the body of an answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
        one.sendall((head + f"\r\nHost: {host}\r\n\r\n").encode("latin-1"))
        answer = b""
        while part := one.recv(1 << 20):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, head.decode(), body


def requests(address):
    parts = urllib.parse.urlsplit(address)
    port, trace = parts.port, urllib.parse.urlsplit(address.split("?url=")[1]).path
    ok(re.fullmatch("/[0-9a-f]{32}/calls.perfetto", trace), "the trace has a name that cannot be guessed", trace)
    status, head, body = ask(port, "GET / HTTP/1.1", f"127.0.0.1:{port}")
    ok(status == 200 and "text/html" in head and b"Perfetto" in body, "the page is there", status, head)
    status, head, body = ask(port, f"GET {trace} HTTP/1.1")
    ok(status == 200 and len(body) > 1000 and body[:1] == b"\n", "the trace is there", status, head)
    ok("no-store" in head and "Access-Control-Allow-Origin" not in head, "for this page alone", head)
    ok(ask(port, f"HEAD {trace} HTTP/1.1")[2] == b"", "HEAD has no body")
    ok(ask(port, f"GET {trace[:-2]} HTTP/1.1")[0] == 404, "another name has nothing")
    ok(ask(port, "GET /" + "0" * 32 + "/calls.perfetto HTTP/1.1")[0] == 404, "nor has another secret")
    for host in ("localhost", "localhost:80", "[::1]:1"):
        ok(ask(port, "GET / HTTP/1.1", host)[0] == 200, f"{host} is this machine")
    for host in ("example.org", "127.0.0.1.example.org", "localhostile", ""):
        ok(ask(port, f"GET {trace} HTTP/1.1", host)[0] == 403, f"who asks for \"{host}\" gets nothing")
    for path in ("/../secret", "/%2e%2e/secret", "//etc/passwd", "/x/../../secret", "/.hidden", "/x%2f..%2f..%2fsecret"):
        status, _, body = ask(port, f"GET {path} HTTP/1.1")
        ok(status == 404 and not body, f"{path} leads nowhere", status)
    for path in ("/%zz", "/%00", "nothing", "/" + "x" * 5000):
        ok(ask(port, f"GET {path} HTTP/1.1")[0] in (400, 404), f"{path[:10]} is no path")
    ok(ask(port, "POST / HTTP/1.1")[0] == 405, "nothing can be posted")
    with socket.create_connection(("127.0.0.1", port)) as one:
        ok(ask(port, "GET / HTTP/1.1")[0] == 200, "who connects and says nothing holds nobody up")
        one.sendall(b"\0" * 100)
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(b"GET / HTTP/1.1\r\nX: " + b"y" * 20000)
    ok(ask(port, "GET / HTTP/1.1")[0] == 200, "and who says too much, neither")
    many(port)


def many(port):
    """More connections than the server has places for."""
    connections = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(80)]
    # Those with a place wait for a request; the others are closed.
    until, closed = time.monotonic() + 20, 0
    while time.monotonic() < until and closed < 16:
        time.sleep(0.1)
        closed = len(select.select(connections, [], [], 0)[0])
    ok(16 <= closed <= 20, "of 80 connections at once, those beyond 64 are closed", closed)
    for one in connections:
        one.close()
    status, until = 0, time.monotonic() + 20
    while status != 200 and time.monotonic() < until:
        try:
            status = ask(port, "GET / HTTP/1.1")[0]
        except OSError:
            time.sleep(0.1)
    ok(status == 200, "and once they are over, others have their places")


def gets(address):
    parts = urllib.parse.urlsplit(address)
    trace = urllib.parse.urlsplit(address.split("?url=")[1]).path
    ok(ask(parts.port, f"GET {trace} HTTP/1.1")[0] == 200, "the trace is asked for")


def browser(address, *texts):
    with chromium.Browser(chromium.find()) as page:
        page.call("Page.navigate", url=address)
        until, shown = time.monotonic() + 90, ""
        while time.monotonic() < until and not all(text in shown for text in texts):
            time.sleep(0.5)
            shown = page.ask("document.body.innerText")
        for text in texts:
            ok(text in shown, f"Perfetto shows \"{text}\"", shown)
        own = "http://" + urllib.parse.urlsplit(address).netloc
        ok(any(url.endswith("/calls.perfetto") for url in page.requests), "it got the trace from ccltap",
           page.requests)
        others = [url for url in page.requests if not url.startswith((own, "blob:", "data:"))]
        refused = [one for one in page.complaints if "Content Security Policy" in one]
        ok(all(any(url.split("?")[0] in one for one in refused) for url in others),
           "the policy refuses what it would ask of others", others, page.complaints)


def listens(address):
    port = f"{urllib.parse.urlsplit(address).port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as file:
        for line in file:
            fields = line.split()
            if fields[1].endswith(":" + port) and fields[3] == "0A":
                print(fields[1].split(":")[0])


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
