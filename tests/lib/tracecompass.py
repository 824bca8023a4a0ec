# SPDX-License-Identifier: MIT
"""What Trace Compass would show of a derived trace, by exactly the part of its XML that
we use: anything else in the file is an error here.

usage: tracecompass.py [--lines] XML FOLDER        --lines: the lines of each view alone
"""

import collections
import operator
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# The folder of a source is no place for what Python compiles.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import derived  # noqa: E402

# The elements that may be in each, and the attributes that each must and may have.
KNOWN = {
    "tmfxml": ("stateProvider timeGraphView xyView callstack pattern", "", ""),
    "stateProvider": ("head location eventHandler", "id version", ""),
    "head": ("traceType label analysis", "", ""),
    "traceType": ("", "id", ""), "label": ("", "value", ""), "analysis": ("", "id", ""),
    "location": ("stateAttribute", "id", ""),
    "stateAttribute": ("", "type value", ""),
    "eventHandler": ("stateChange", "eventName", ""),
    "stateChange": ("stateAttribute stateValue if then", "", ""),
    "if": ("not and condition", "", ""), "not": ("condition", "", ""),
    "and": ("condition not", "", ""),
    "then": ("stateAttribute stateValue", "", ""),
    "condition": ("field stateValue", "", "operator"), "field": ("", "name", ""),
    "stateValue": ("", "type", "value stack forcedType"),
    "timeGraphView": ("head definedValue entry", "id", ""),
    "xyView": ("head entry", "id", ""),
    "definedValue": ("", "name value color", ""),
    "entry": ("display entry", "path", "displayText"), "display": ("", "type", "value"),
    "callstack": ("callstackGroup analysis", "id", ""),
    "callstackGroup": ("level", "name", ""), "level": ("", "path", ""),
    "pattern": ("head patternHandler", "id version", ""),
    "patternHandler": ("test action fsm", "", ""), "test": ("if", "id", ""),
    "action": ("segment", "id", ""), "segment": ("segType segTime", "", ""),
    "segType": ("segName", "", ""), "segName": ("stateValue", "", ""),
    "segTime": ("begin end", "", ""), "begin": ("", "type value", ""),
    "end": ("", "type value", ""), "fsm": ("state final", "id multiple", ""),
    "state": ("transition", "id", ""), "final": ("", "id", ""),
    "transition": ("", "event cond target action", ""),
}
OPERATORS = {"eq": operator.eq, "ne": operator.ne, "ge": operator.ge, "le": operator.le}
UST = "org.eclipse.linuxtools.lttng2.ust.tracetype"


def check(element, ids):
    children, needed, allowed = (set(words.split()) for words in KNOWN[element.tag])
    names = {name for name in element.attrib if not name.startswith("{")}
    assert needed <= names <= needed | allowed, (element.tag, names)
    if "id" in names and element.tag not in ("traceType", "analysis"):
        assert element.get("id") not in ids, f"{element.get('id')} is there twice"
        ids.add(element.get("id"))
    for child in element:
        assert child.tag in children, f"<{child.tag}> in <{element.tag}>"
        check(child, ids)


class Attributes:
    """A state system: paths whose values hold from one time to the next."""

    def __init__(self):
        self.now = {}
        self.indexed = 0
        self.intervals = collections.defaultdict(list)

    def set(self, path, value, time, ends=False):
        for length in range(1, len(path)):
            self.now.setdefault(path[:length], (None, time))
        old, since = self.now.get(path, (None, time))
        # A value that is there already goes on.
        if old == value and type(old) is type(value) and path in self.now and not ends:
            return
        if old is not None and time > since:
            self.intervals[path].append((since, time, old))
        self.now[path] = (value, time)

    def push(self, path, value, time):
        depth = self.now.get(path, (None, 0))[0] or 0
        self.set(path + (str(depth + 1),), value, time)
        self.set(path, depth + 1, time)

    def pop(self, path, time):
        depth = self.now.get(path, (None, 0))[0]
        assert depth, f"{path} is empty at {time}"
        self.set(path + (str(depth),), None, time)
        self.set(path, depth - 1 or None, time)

    def end(self, time):
        for path, (value, _) in list(self.now.items()):
            if value is not None:
                self.set(path, value, time, ends=True)

    def children(self, path):
        if self.indexed != len(self.now):
            self.of = collections.defaultdict(list)
            for known in self.now:
                self.of[known[:-1]].append(known)
            self.indexed = len(self.now)
        return self.of[path]

    def below(self, base, pattern):
        """The paths of a pattern below another, in order of their names."""
        paths = [base]
        for part in pattern.split("/"):
            wanted = re.compile(part.replace("*", ".*") if part != "*" else ".*")
            paths = sorted(path for above in paths for path in self.children(above)
                           if wanted.fullmatch(path[-1]))
        return paths


def value_of(element, event):
    kind, value = element.get("type"), element.get("value")
    if kind == "null":
        return None
    if kind in ("int", "long"):
        return int(value)
    if kind == "string":
        return value
    assert kind == "eventField", kind
    value = event[value]
    if element.get("forcedType") == "string":
        return str(value)
    if element.get("forcedType"):
        assert element.get("forcedType") in ("int", "long") and isinstance(value, int), value
    return value


def holds(condition, event):
    if condition.tag == "not":
        return not holds(condition[0], event)
    if condition.tag == "and":
        return all(holds(part, event) for part in condition)
    field, value = condition
    there, wanted = event[field.get("name")], value_of(value, event)
    assert type(there) is type(wanted), (there, wanted)
    return OPERATORS[condition.get("operator", "eq")](there, wanted)


def path_of(attributes, locations, event):
    path = ()
    for attribute in attributes:
        kind, value = attribute.get("type"), attribute.get("value")
        if kind == "location":
            path += path_of(locations[value], locations, event)
        elif kind == "constant":
            path += (value,)
        else:
            assert kind == "eventField", kind
            path += (str(event[value]),)
    return path


def change(to, element, locations, event):
    if element.find("if") is not None:
        if not holds(element.find("if")[0], event):
            return
        element = element.find("then")
    path = path_of(element.findall("stateAttribute"), locations, event)
    value = element.find("stateValue")
    stack = value.get("stack")
    if stack == "push":
        to.push(path, value_of(value, event), event["time"])
    elif stack == "pop":
        to.pop(path, event["time"])
    else:
        assert stack is None, stack
        to.set(path, value_of(value, event), event["time"])


def provide(provider, events):
    assert provider.find("head/traceType").get("id") == UST
    attributes = Attributes()
    locations = {l.get("id"): list(l) for l in provider.findall("location")}
    handlers = {h.get("eventName"): list(h) for h in provider.findall("eventHandler")}
    for event in events:
        for element in handlers.get("ccltap:" + event["event"], ()):
            change(attributes, element, locations, event)
    attributes.end(events[-1]["time"] if events else 0)
    return attributes


def show(title, path, intervals, names=None):
    for begin, end, value in intervals:
        value = names[str(value)] if names else value
        print(f"{title}: {' | '.join(path)} | {begin}-{end} {value}")


def entries(attributes, element, base):
    """The lines of a view: the path of each, and of what it shows, in order."""
    for path in attributes.below(base, element.get("path")):
        display = element.find("display")
        assert display.get("type") in ("self", "constant")
        shown = path if display.get("type") == "self" else path + (display.get("value"),)
        # Trace Compass drops a line whose attribute is not there.
        if shown not in attributes.now:
            continue
        yield path, shown
        for child in element.findall("entry"):
            yield from entries(attributes, child, path)


def show_entries(title, attributes, element, names):
    for path, shown in entries(attributes, element, ()):
        show(title, path[1:], attributes.intervals[shown], names)


def show_stacks(attributes, callstack):
    paths = [()]
    for level in callstack.findall("callstackGroup/level"):
        paths = [p for base in paths for p in attributes.below(base, level.get("path"))]
    for path in paths:
        for frame in attributes.below(path + ("CallStack",), "*"):
            show("Stacks", path[1:] + frame[-1:], attributes.intervals[frame])


def show_segments(pattern, events):
    handler = pattern.find("patternHandler")
    tests = {t.get("id"): t.find("if")[0] for t in handler.findall("test")}
    actions = {a.get("id"): a.find("segment") for a in handler.findall("action")}
    for fsm in handler.findall("fsm"):
        transition = fsm.find("state/transition")
        assert transition.get("target") == fsm.find("final").get("id")
        for event in events:
            if "ccltap:" + event["event"] != transition.get("event") or \
                    not holds(tests[transition.get("cond")], event):
                continue
            segment = actions[transition.get("action")]
            begin, end = (value_of(segment.find(f"segTime/{w}"), event)
                          for w in ("begin", "end"))
            name = value_of(segment.find("segType/segName/stateValue"), event)
            print(f"latency: {name} {begin}-{end}")


def title_of(view):
    """The last word of the view's id: it tells the views of one tree apart."""
    return view.get("id").split(".")[-1].capitalize()


def main():
    only_lines = sys.argv[1] == "--lines"
    xml, folder = sys.argv[2:] if only_lines else sys.argv[1:]
    root = ElementTree.parse(xml).getroot()
    check(root, set())
    events = list(derived.read(folder))
    made = {p.get("id"): provide(p, events) for p in root.findall("stateProvider")}
    for view in root:
        if view.tag in ("timeGraphView", "xyView"):
            names = {v.get("value"): v.get("name") for v in view.findall("definedValue")}
            attributes = made[view.find("head/analysis").get("id")]
            if not only_lines:
                show_entries(title_of(view), attributes, view.find("entry"), names)
                continue
            for root_entry in view.findall("entry"):
                for path, shown in entries(attributes, root_entry, ()):
                    print(f"{title_of(view)}: {' | '.join(path[1:])}")
        elif only_lines:
            continue
        elif view.tag == "callstack":
            show_stacks(made[view.find("analysis").get("id")], view)
        elif view.tag == "pattern":
            show_segments(view, events)


if __name__ == "__main__":
    main()
