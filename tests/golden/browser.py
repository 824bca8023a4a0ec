#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Opens pages of ccltap report --html in a browser and uses them as a person would.

usage: browser.py LATE HOSTILE MANY SLOWED SAME

LATE is of the bundled program with a rank that is late, HOSTILE has names that would be markup, and
MANY more spans than a page draws. SLOWED compares a run whose rank 2 is slowed with the same run
without that, and SAME that run with itself.  Prints lines of TAP without numbers; exits with 77 where there is
no browser.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import chromium  # noqa: E402

STATUS = "document.getElementById('timeline-status').textContent"
DETAIL = "document.getElementById('timeline-detail').innerText"
TEXT = "document.body.innerText"


def ok(is_right, sentence, *details):
    print(("ok - " if is_right else "not ok - ") + sentence)
    if not is_right:
        for detail in details:
            print("#", str(detail)[:600].replace("\n", " | "))
    sys.stdout.flush()


def period(browser):
    """From when to when the timeline shows, in seconds."""
    return [float(one) for one in re.findall(r"(-?[\d.]+) s", browser.ask(STATUS))[:2]]


def length(browser):
    begin, end = period(browser)
    return end - begin


def box_of(browser, selector):
    """Where an element is in the window, after it was scrolled into it."""
    return browser.ask(f"(() => {{ const one = document.querySelector({selector!r});"
                       "one.scrollIntoView({block: 'center'});"
                       "const box = one.getBoundingClientRect();"
                       "return {x: box.x, y: box.y, width: box.width, height: box.height}; })()")


def is_quiet(browser, path, sentence):
    browser.settle()
    own = pathlib.Path(path).resolve().as_uri()
    others = [url for url in browser.requests if url != own]
    ok(browser.requests and not others, sentence + ": it asks for no other file", others)
    ok(not browser.complaints, sentence + ": the console is empty", browser.complaints)
    browser.requests.clear()
    browser.complaints.clear()


def click_button(browser, label):
    browser.ask("[...document.querySelectorAll('#timeline button')]"
                f".find((one) => one.textContent === {label!r}).click()")


def try_keys(browser):
    browser.ask("document.querySelector('.lanes canvas').focus()")
    whole = length(browser)
    browser.key("+")
    ok(abs(length(browser) - whole / 2) < whole / 1000, "a key zooms in", whole, browser.ask(STATUS))
    before = period(browser)
    browser.key("ArrowRight")
    ok(period(browser)[0] > before[0], "a key moves", before, browser.ask(STATUS))
    browser.key("-")
    browser.key("Home")
    ok(length(browser) == whole, "a key shows all of it", whole, browser.ask(STATUS))
    nothing = browser.ask(DETAIL)
    browser.key("n")
    first = browser.ask(DETAIL)
    browser.key("n")
    second = browser.ask(DETAIL)
    ok(nothing != first != second and "known" in second, "keys choose one span after the other",
       nothing, first, second)
    browser.key("p")
    ok(browser.ask(DETAIL) == first, "and the one before", browser.ask(DETAIL))
    browser.key("Enter")
    ok(length(browser) < whole, "and show it", browser.ask(STATUS))
    browser.key("Escape")
    ok(browser.ask(DETAIL) == nothing, "and let it go", browser.ask(DETAIL))
    browser.key("Home")


def try_pointer(browser):
    whole = length(browser)
    box = box_of(browser, ".lanes canvas")
    middle = box["x"] + 220 + (box["width"] - 220) / 2
    browser.mouse("mouseWheel", middle, box["y"] + 60, deltaX=0, deltaY=-120, modifiers=2)
    browser.settle()
    ok(length(browser) < whole, "the wheel with Ctrl zooms in", whole, browser.ask(STATUS))
    click_button(browser, "all")
    ok(length(browser) == whole, "a button shows all of it", browser.ask(STATUS))
    click_button(browser, "+")
    ok(length(browser) < whole, "a button zooms in", browser.ask(STATUS))
    click_button(browser, "all")
    nothing = browser.ask(DETAIL)
    for y in range(28, int(box["height"]), 6):
        browser.click(middle, box["y"] + y)
        if browser.ask(DETAIL) != nothing and "AllReduce #" in browser.ask(DETAIL):
            break
    detail = browser.ask(DETAIL)
    ok("AllReduce #" in detail and "GPU" in detail, "a click chooses a span", detail)
    ok(re.search(r"(from|to) .*\(kernel-collective\) (exact|decoded)", detail.replace("\n", " ")),
       "and shows its links, and how each is known", detail)
    browser.ask("document.querySelector('#timeline-detail button').click()")
    ok(browser.ask(DETAIL) != detail, "a link leads to its other end", browser.ask(DETAIL))
    click_button(browser, "all")
    browser.ask("document.querySelector('.finding button').click()")
    ok(length(browser) < whole, "a finding is shown in the timeline", browser.ask(STATUS))
    click_button(browser, "all")
    box = box_of(browser, "#arrivals canvas")
    browser.click(box["x"] + 86 + 40, box["y"] + box["height"] - 50)
    browser.settle()
    ok(length(browser) < whole, "a cell of the matrix is shown in the timeline", browser.ask(STATUS))
    click_button(browser, "all")


def try_looks(browser):
    background = "getComputedStyle(document.body).backgroundColor"
    pixel = "(() => { const c = document.querySelector('.lanes canvas'); const at = c.width - 3;" \
            "return [...c.getContext('2d').getImageData(at, c.height - 2, 1, 1).data].join(); })()"
    light = browser.ask(background), browser.ask(pixel)
    browser.look(is_dark=True)
    browser.settle()
    dark = browser.ask(background), browser.ask(pixel)
    ok(light[0] != dark[0] and light[1] != dark[1], "the page and its canvas are dark where that is wanted",
       light, dark)
    browser.look(is_dark=True, media="print")
    browser.settle()
    printed = browser.ask(background), browser.ask(pixel)
    ok(printed == light, "and light on paper", printed, light)
    ok(browser.ask("[...document.querySelectorAll('button')].every((one) => !one.offsetParent)"),
       "on paper there are no buttons")
    browser.look(is_dark=False)


def try_audit(browser):
    """The part of the audit: what is to be mended is open, the rest opens, also from the keyboard and on paper."""
    audit = "document.getElementById('audit')"
    text = browser.ask(audit + ".innerText")
    ok("ccltap audit, of the whole trace" in text and re.search(r"\d+ to mend", text), "the audit has a part", text)
    ok(browser.ask(f"[...document.querySelectorAll('#contents a')].some((one) => one.hash === '#audit')"),
       "which the contents lead to")
    subjects = f"[...{audit}.querySelectorAll('details.subject')]"
    ok(browser.ask(subjects + ".length") == 12, "with each subject", browser.ask(subjects + ".length"))
    ok(browser.ask(subjects + ".every((one) => one.open === Boolean(one.querySelector('summary strong.bad')))"),
       "those with something to mend are open", text)
    closed = subjects + ".find((one) => !one.open)"
    count = subjects + ".filter((one) => one.open).length"
    before = browser.ask(count)
    browser.ask(closed + ".querySelector('summary').focus()")
    for kind, text in (("keyDown", "\r"), ("keyUp", "")):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13,
                     text=text)
    ok(browser.ask(count) == before + 1, "a key opens another one", before, browser.ask(count))
    colour = f"getComputedStyle({audit}.querySelector('summary strong')).color"
    light = browser.ask(colour)
    browser.look(is_dark=True)
    dark = browser.ask(colour)
    ok(light != dark, "its words have colours for the dark", light, dark)
    browser.look(is_dark=False)
    browser.ask("window.dispatchEvent(new Event('beforeprint'))")
    ok(browser.ask(subjects + ".every((one) => one.open)"), "on paper all of it is open")


def try_difference(program, slowed, same):
    with chromium.Browser(program) as browser:
        browser.open(slowed)
        text = browser.ask("document.getElementById('diff').innerText").replace("\n", " ")
        ok("What changed since" in text and "usual" in text, "a difference has its part", text)
        ok(re.search(r"NEW\s+Rank 2 is late: last to start 40 of 40 collectives, by 20 ms each", text),
           "which names the rank that was slowed", text)
        ok(re.search(r"LATER\s+rank 2 is last in 100% instead of 0%", text), "and what it was before", text)
        is_quiet(browser, slowed, "a page with a difference")
        browser.open(same)
        text = browser.ask("document.getElementById('diff').innerText")
        ok("No difference is larger than the noise" in text and "Rank 2" not in text,
           "of a run and itself none is named", text)


def try_late(program, path):
    with chromium.Browser(program) as browser:
        print(f"# {os.path.basename(path)} is open after {browser.open(path):.2f} s")
        text = browser.ask(TEXT)
        ok("Rank 2 is late" in text and "-> what does rank 2 do before" in text.replace("\n", " "),
           "the finding comes first", text)
        ok(browser.ask("document.querySelector('section').innerText.includes('Rank 2 is late')"),
           "before the charts")
        ok(browser.ask("document.querySelectorAll('section').length") >= 7, "the page has its sections",
           browser.ask("[...document.querySelectorAll('section')].map((one) => one.id)"))
        try_keys(browser)
        try_pointer(browser)
        is_quiet(browser, path, "a page that was used")
        try_looks(browser)
        try_audit(browser)


def try_hostile(program, path):
    with chromium.Browser(program) as browser:
        browser.open(path)
        text = browser.ask(TEXT)
        ok("</script><script>alert(1)</script>" in text and "<img/src=x" in text,
           "names that would be markup are shown as they are", text)
        made = browser.ask("[...document.querySelectorAll('script,img,iframe,link,object,style')]"
                           ".map((one) => one.id || one.localName).join()")
        ok(made == "style,data-report,data-check,data-audit,data-diff,data-page,script" and
           "Page.javascriptDialogOpening" not in browser.events, "and no element of them is made, nor run",
           made)
        is_quiet(browser, path, "a page with hostile names")


def try_policy(program, path):
    """Even a page into which somebody put markup runs nothing and asks for nothing."""
    spoilt = path + ".spoilt.html"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(spoilt, "w", encoding="utf-8") as file:
        file.write(text.replace("<main", "<script>document.body.id = 'ran'</script>"
                                "<img src=x onerror=\"document.body.id = 'ran'\">"
                                "<link rel=stylesheet href=other.css><main"))
    with chromium.Browser(program) as browser:
        browser.open_anyway(spoilt)
        ok(browser.ask("document.body.id") == "", "a script that was put into a page does not run",
           browser.ask("document.body.id"))
        ok(any("Content Security Policy" in one for one in browser.complaints),
           "since the policy refuses it", browser.complaints)
        ok(browser.ask("document.documentElement.dataset.ready") == "yes", "the page's own runs")


def try_many(program, path):
    with chromium.Browser(program) as browser:
        print(f"# {os.path.basename(path)} of {os.path.getsize(path)} bytes is open after "
              f"{browser.open(path):.2f} s")
        text = browser.ask(TEXT).replace("\n", " ")
        ok(re.search(r"draws [\d,]+ of [\d,]+ spans", text), "a page says that it draws not all spans", text)
        ok(re.search(r"a column has \d+", text), "and that columns have several operations")
        is_quiet(browser, path, "a large page")


def main():
    program = chromium.find()
    if not program:
        sys.exit(77)
    late, hostile, many, slowed, same = sys.argv[1:]
    try_late(program, late)
    try_hostile(program, hostile)
    try_policy(program, late)
    try_many(program, many)
    try_difference(program, slowed, same)


if __name__ == "__main__":
    main()
