#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Asks `record --metrics-listen` as Prometheus does, and as clients that are broken.

usage: ask_http.py answers URL
       ask_http.py hangs URL

Prints lines of TAP without numbers.
"""
import http.client
import socket
import sys
import urllib.parse


def ok(is_right, sentence, *details):
    print(("ok - " if is_right else "not ok - ") + sentence)
    if not is_right:
        for detail in details:
            print("#", str(detail)[:600].replace("\n", " | "))
    sys.stdout.flush()


def ask(url, path="/metrics", method="GET", body=None):
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    connection.request(method, path, body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer, text


def answers(url):
    answer, text = ask(url)
    ok(answer.status == 200 and text.startswith(b"# HELP ccltap_") and text.endswith(b"\n"),
       "GET has the text", answer.status, text)
    ok(answer.getheader("Content-Type") == "text/plain; version=0.0.4; charset=utf-8",
       "of the type that Prometheus knows", answer.getheaders())
    length = int(answer.getheader("Content-Length"))
    answer, text = ask(url, method="HEAD")
    # A number in it may have another digit more by now.
    ok(answer.status == 200 and not text and abs(int(answer.getheader("Content-Length")) - length) < 100,
       "HEAD has the length alone", answer.getheaders())
    ok(ask(url, "/metrics?name[]=x")[0].status == 200, "a query is no other path")
    for path in ("/", "/metrics/", "/metric", "/%2e%2e/etc/passwd", "//metrics"):
        ok(ask(url, path)[0].status == 404, f"{path} is not there")
    answer, _ = ask(url, method="POST", body="x" * 100000)
    ok(answer.status == 405 and answer.getheader("Allow") == "GET, HEAD", "nothing can be posted", answer.status)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    for _ in range(100):
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read()
    ok(answer.status == 200 and text, "a connection can be kept, and asked again and again")


def connect(url):
    return socket.create_connection((url.hostname, url.port), timeout=30)


def hangs(url):
    silent = [connect(url) for _ in range(20)]
    half = connect(url)
    half.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
    greedy = connect(url)
    greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    greedy.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 1000)
    ok(ask(url)[0].status == 200, "clients that say and read nothing hold nobody up")
    rude = connect(url)
    rude.sendall(b"\0\xff" * 50000)
    rude.close()
    huge = connect(url)
    try:
        huge.sendall(b"GET /" + b"x" * 1000000 + b" HTTP/1.1\r\n\r\n")
    except OSError:
        pass
    ok(ask(url)[0].status == 200, "nor those that say too much")
    # More than have a place: those that say nothing lose it after a while.
    silent += [connect(url) for _ in range(100)]
    ok(ask(url)[0].status == 200, "nor more than have a place, for longer than they are waited for")
    for one in silent + [half, greedy, huge]:
        one.close()


if __name__ == "__main__":
    globals()[sys.argv[1]](urllib.parse.urlsplit(sys.argv[2]))
