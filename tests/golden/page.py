#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What is in a page of ccltap report --html, by a parser of HTML and of JSON.

usage: page.py structure PAGE...        each has one policy, asks for nothing, has the same elements
       page.py hostile PAGE TEXT...     each text is in the data as it is, and nowhere in the markup
       page.py equal PAGE REPORT CHECK [DIFF]    the numbers are those of --json
       page.py spans PAGE JSONL         the timeline counts the spans of the JSON lines
       page.py bound PAGE MANY          it has not all spans and says so, is bounded, keeps what hangs

Prints lines of TAP without numbers.
"""
import html.parser
import json
import re
import sys

# What could fetch something, or run a script that the policy does not name.
FETCHING = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping", "srcdoc",
            "style"}
LIMIT = 8 << 20
# Links that are arrows, some of them several.
ARROWS = ("send-receive", "cts-message", "flush-message", "socket-message", "api-launch",
          "launch-kernel", "kernel-collective", "message-kernel")


class Parser(html.parser.HTMLParser):
    """Elements with their attributes, and the text of scripts and styles by their id or name."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.raw, self.inside = [], {}, None
        self.text = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(attrs)))
        if tag in ("script", "style"):
            self.inside = dict(attrs).get("id", tag)
            self.raw[self.inside] = ""

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.raw[self.inside] += data
        else:
            self.text.append(data)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def blocks(page):
    return {name: json.loads(text) for name, text in page.raw.items() if name.startswith("data-")}


def ok(is_right, sentence, *details):
    print(("ok - " if is_right else "not ok - ") + sentence)
    if not is_right:
        for detail in details:
            print("#", str(detail)[:600])


def structure(paths):
    first = None
    for path in paths:
        page = Parser(read(path))
        name = path.rsplit("/", 1)[-1]
        first = first or page.elements
        ok(page.elements == first, f"{name} has the elements of every page",
           set(page.elements) ^ set(first))
        policies = [dict(attrs)["content"] for tag, attrs in page.elements
                    if tag == "meta" and dict(attrs).get("http-equiv") == "Content-Security-Policy"]
        hashed = re.fullmatch(r"default-src 'none'; script-src 'sha256-[\w+/=]{44}'; "
                              r"style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'",
                              policies[0]) if len(policies) == 1 else None
        before = [tag for tag, _ in page.elements].index("meta") < \
            [tag for tag, _ in page.elements].index("script")
        ok(bool(hashed) and before, f"{name} has one policy, which allows nothing but its script and style",
           policies)
        asking = [(tag, attrs) for tag, attrs in page.elements
                  if tag in ("link", "img", "iframe", "object", "embed", "base", "form", "audio", "video")
                  or any(key in FETCHING or key.startswith("on") or key == "href" for key, _ in attrs)]
        ok(not asking, f"{name} asks for no other file", asking)
        data = blocks(page)
        ok(sorted(data) == ["data-audit", "data-check", "data-diff", "data-page", "data-report"] and
           data["data-report"]["type"] == "report" and data["data-check"]["type"] == "check" and
           data["data-page"]["type"] == "page", f"{name} has its data as JSON", sorted(data))
    script = Parser(read(paths[0])).raw["script"]
    risky = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|"
                       r"DOMParser|createContextualFragment|setTimeout|import\(|fetch\(|XMLHttp|WebSocket|"
                       r"https?://(?!www\.w3\.org/2000/svg)", script)
    ok(not risky, "the script makes no markup of text and asks for nothing", risky)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


def hostile(path, texts):
    text = read(path)
    page = Parser(text)
    found = list(strings(list(blocks(page).values())))
    for one in texts:
        ok(any(one in string for string in found), f"a name is in the data as it is: {one[:40]}")
        ok(one not in text, f"and not in the markup: {one[:40]}")
    data = "".join(value for name, value in page.raw.items() if name.startswith("data-"))
    ok("<" not in data, "no block of data has a <")


def same(page, wanted, keys, what):
    wrong = [key for key in keys if page.get(key) != wanted.get(key)]
    ok(not wrong, what, wrong, *[(page.get(key), wanted.get(key)) for key in wrong])


def without_streams(loss):
    return {key: value for key, value in loss.items() if key != "streams"}


def verdict_of(check):
    """Without what the report's findings know and the check's do not: what threads do meanwhile."""
    return dict(check, loss=without_streams(check["loss"]),
                findings=[finding["headline"] for finding in check.get("findings", [])])


def audits(path, audit):
    """What the page tells of the audit is what ccltap audit --json says, worst first."""
    shown = blocks(Parser(read(path)))["data-audit"]
    audit = json.loads(read(audit))
    subjects = audit["subjects"]
    ok(shown["verdict"] == audit["verdict"], "the page has the audit's verdict", shown["verdict"])
    ok([one["key"] for one in shown["sections"]] == list(subjects), "and its subjects, in their order")
    for one in shown["sections"]:
        subject = subjects[one["key"]]
        before = [(remark["grade"], remark["text"] + ("" if remark["known"] in ("exact", "unknown")
                                                     else f" ({remark['known']})"))
                  for remark in subject["remarks"]]
        after = [(remark["grade"], remark["text"]) for remark in one["remarks"]]
        if (one["grade"], one["summary"]) != (subject["grade"], subject["summary"]) or \
                after != before[:len(after)] or one["other_remarks"] != len(before) - len(after):
            ok(False, f"what it says of {one['key']}", after, before)
    ok(any(one["remarks"] for one in shown["sections"]), "and its remarks")


def equal(path, report, check, diff=None):
    data = blocks(Parser(read(path)))
    page, shown = data["data-page"], data["data-report"]
    report, check = json.loads(read(report)), json.loads(read(check))
    same(shown, report, ["schema", "hosts", "filters", "summary", "findings", "collectives", "ranks",
                         "never_returned", "snapshots"], "the page has the report's numbers")
    ok(without_streams(shown["loss"]) == without_streams(report["loss"]), "and its losses")
    ok(verdict_of(data["data-check"]) == verdict_of(check), "and what check says",
       verdict_of(data["data-check"]), verdict_of(check))
    ok(len(page["findings"]) == len(report["findings"]), "each finding has its word")
    if diff:
        differs = dict(data["data-diff"])
        ok(differs.pop("other_changes") == 0 and differs == json.loads(read(diff)),
           "the difference is that of --diff --json", differs)
        ok(page["baseline"] != "", "and what it is compared with is named")
    else:
        ok(data["data-diff"] is None, "nothing is compared")
    waits(page, report)
    traffic(page, report)


def waits(page, report):
    """What a rank waited for each other is, in sum, what it waited."""
    sums = {}
    for pair in page["waits"]["pairs"]:
        rank = page["ranks"][pair["rank"]]
        key = rank["process"], rank["device"]
        sums[key] = sums.get(key, 0) + pair["waited_ns"]
    wanted = {(rank["process"], rank["device"]): rank["waited_ns"] for rank in report["ranks"]
              if rank["waited_ns"]}
    ok({key: value for key, value in sums.items() if value} == wanted,
       "who waits for whom adds up to what each rank waited", sums, wanted)
    cells = sum(len(row["late_ns"]) for row in page["arrivals"]["rows"])
    ok(cells == len(page["arrivals"]["rows"]) * len(page["arrivals"]["columns"]),
       "each rank has a cell in each column")


def traffic(page, report):
    by_what = {one["what"]: one for one in page["traffic"]}
    for what, table, count in (("messages", "connections", "messages"), ("work requests", "peers", "sends")):
        rows = report.get(table, [])
        one = by_what.get(what, {"pairs": [], "latency": {"count": 0, "counts": []}})
        got = [sum(pair[key] for pair in one["pairs"]) for key in ("messages", "bytes")]
        wanted = [sum(row[key] for row in rows) for key in (count, "bytes")]
        ok(got == wanted, f"the matrix adds up to the report's {table}", got, wanted)
        ok(sum(part[2] for part in one["latency"]["counts"]) == one["latency"]["count"],
           f"and the distribution to its count, of {what}")


def spans(path, lines):
    timeline = blocks(Parser(read(path)))["data-page"]["timeline"]
    with open(lines, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    wanted = sum(record["type"] == "span" for record in records)
    drawn = sum(len(row["spans"]) for row in timeline["rows"])
    ok((timeline["spans"], timeline["spans_drawn"], drawn) == (wanted, wanted, wanted),
       "a short trace has each span in the timeline", timeline["spans"], drawn, wanted)
    total = drawn
    bad = [arrow for arrow in timeline["arrows"] if not 0 <= arrow[0] < total or not 0 <= arrow[1] < total]
    links = [record for record in records if record["type"] == "link" and record["kind"] in ARROWS]
    ok(not bad and bool(timeline["arrows"]) == bool(links), "each arrow has its spans", bad, links)


def bound(path, many):
    text = read(path)
    page = blocks(Parser(text))["data-page"]
    timeline = page["timeline"]
    drawn = sum(len(row["spans"]) for row in timeline["rows"])
    ok(timeline["spans"] == int(many), "all spans are counted", timeline["spans"], many)
    ok(drawn == timeline["spans_drawn"] <= 20000 < int(many), "not all of them are drawn, and it says so",
       drawn, timeline["spans_drawn"])
    ok(sum(sum(row.get("bins", [])) for row in timeline["rows"]) == int(many),
       "counts stand for all of a row's spans")
    ok(len(text.encode()) <= LIMIT, "the page is not larger than 8 MiB", len(text))
    flags = [span[3] for row in timeline["rows"] for span in row["spans"]]
    ok(sum(flag & 1 for flag in flags) == 2, "what never returned is drawn")
    ok(sum(flag >> 3 & 1 for flag in flags) == 1, "what failed is drawn")
    longest = max(span[1] for row in timeline["rows"] for span in row["spans"] if not span[3] & 1)
    ok(longest == 77000, "the longest call is drawn", longest)
    arrivals = page["arrivals"]
    together = arrivals["operations_in_column"]
    ok(together > 1 and (len(arrivals["columns"]) - 1) * together < arrivals["operations"] <=
       len(arrivals["columns"]) * together <= 512 * together,
       "columns of the matrix have several operations", together, arrivals["operations"],
       len(arrivals["columns"]))
    ok(max(max(row["late_ns"]) for row in arrivals["rows"]) == 66000,
       "and the largest lateness of them")


def main():
    command, *arguments = sys.argv[1:]
    {"structure": structure, "hostile": lambda all: hostile(all[0], all[1:]),
     "equal": lambda all: equal(*all), "spans": lambda all: spans(*all),
     "bound": lambda all: bound(*all), "audits": lambda all: audits(*all)}[command](arguments)


if __name__ == "__main__":
    main()
