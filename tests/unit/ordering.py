# SPDX-License-Identifier: MIT
"""Runs what the tracer does without locked instructions on a machine with weak ordering, in every
order that there is, and says whether it is right; lines of TAP without numbers.

The machine is C11's without promises: a store is a message that carries what its thread knows
if it is a release, and a load may take any message that its thread does not know to be
overwritten.  So each load may be stale, and two stores of a thread may be seen in either order, as
on AArch64.  A barrier of all processors (membarrier) makes each thread in turn, at any time
until the call returns, know what all others before it know.  What is not modelled: a load that
is delayed beyond a later store, which a dependency forbids in all that is run here.

Each way is run as it is written in src, and once more with each of its orders taken away, where
the machine must find what goes wrong: then the model can fail.

usage: ordering.py [--long]    with three threads, too: some minutes
"""
import sys

RLX, ACQ, REL, BOTH, SC = "rlx", "acq", "rel", "both", "sc"
ACQUIRES, RELEASES = (ACQ, BOTH, SC), (REL, BOTH, SC)


def join(left, right):
    if not right or left is right:
        return left
    out = dict(left)
    for place, index in right.items():
        if out.get(place, 0) < index:
            out[place] = index
    return out


class Machine:
    """Runs generators, which yield operations and are sent results, by a list of choices."""

    def __init__(self, programs, memory):
        self.memory = {place: [(value, {})] for place, value in memory.items()}
        self.threads = [program(self) for program in programs]
        self.view = [{} for _ in programs]  # what the thread knows
        self.pending = [{} for _ in programs]  # would know after an acquire fence
        self.fenced = [{} for _ in programs]  # knew at its last release fence
        self.everybody = {}  # what full barriers have made known
        self.barred = {}  # thread -> the threads that its barrier has yet to reach
        self.results = [[] for _ in programs]
        self.next = [None] * len(programs)
        self.finished = []
        for t in range(len(programs)):
            self.advance(t, None, start=True)

    def advance(self, t, result, start=False):
        if not start:
            self.results[t].append(result)
        try:
            self.next[t] = self.threads[t].send(None if start else result)
        except StopIteration as end:
            self.next[t] = None
            self.finished.append((t, end.value))

    def full_barrier(self, t):
        self.view[t] = self.everybody = join(self.view[t], self.everybody)

    def choices(self):
        """Each is (thread, what): the index of a message, or the thread that a barrier reaches."""
        found = []
        for t, operation in enumerate(self.next):
            if operation is None:
                continue
            kind = operation[0]
            if kind == "load":
                found += [(t, i) for i in self.readable(t, operation[1])]
            elif kind == "await":
                found += [(t, i) for i in self.readable(t, operation[1])
                          if self.memory[operation[1]][i][0] != operation[2]]
            elif kind == "barrier" and t in self.barred:
                found += [(t, other) for other in self.barred[t]]
            else:
                found.append((t, 0))
        return found

    def readable(self, t, place):
        return range(self.view[t].get(place, 0), len(self.memory[place]))

    def do(self, t, what):
        operation = self.next[t]
        getattr(self, "do_" + operation[0])(t, what, *operation[1:])

    def take(self, t, place, index, order):
        value, known = self.memory[place][index]
        self.view[t] = join(self.view[t], {place: index})
        if order in ACQUIRES:
            self.view[t] = join(self.view[t], known)
        else:
            self.pending[t] = join(self.pending[t], known)
        return value

    def put(self, t, place, value, order, more=None):
        index = len(self.memory[place])
        self.view[t] = join(self.view[t], {place: index})
        known = self.view[t] if order in RELEASES else join(self.fenced[t], {place: index})
        self.memory[place].append((value, join(known, more)))

    def do_load(self, t, index, place, order):
        self.advance(t, self.take(t, place, index, order))

    def do_await(self, t, index, place, _unwanted, order):
        self.advance(t, self.take(t, place, index, order))

    def do_store(self, t, _, place, value, order):
        self.put(t, place, value, order)
        self.advance(t, None)

    def do_change(self, t, _, place, function, order):
        """A locked instruction: function(before) is what it stores, or None for nothing."""
        index = len(self.memory[place]) - 1
        before = self.take(t, place, index, order)
        after = function(before)
        if after is not None:
            self.put(t, place, after, order, self.memory[place][index][1])
        self.advance(t, before)

    def do_fence(self, t, _, order):
        if order in ACQUIRES:
            self.view[t] = join(self.view[t], self.pending[t])
        if order in RELEASES:
            self.fenced[t] = self.view[t]
        self.advance(t, None)

    def do_barrier(self, t, other):
        if t not in self.barred:
            self.full_barrier(t)
            self.barred[t] = tuple(i for i in range(len(self.next)) if i != t)
        else:
            self.full_barrier(other)
            self.barred[t] = tuple(i for i in self.barred[t] if i != other)
        if not self.barred[t]:
            del self.barred[t]
            self.full_barrier(t)
            self.advance(t, None)

    def key(self):
        def flat(view):
            return tuple(sorted(view.items()))
        return (tuple(map(tuple, self.results)), tuple(sorted(self.barred.items())),
                tuple(flat(v) for v in self.view), tuple(flat(v) for v in self.pending),
                tuple(flat(v) for v in self.fenced), flat(self.everybody),
                tuple((place, tuple((value, flat(known)) for value, known in messages))
                      for place, messages in sorted(self.memory.items())))


def explore(programs, memory, is_right):
    """Returns (how many states, a choice list that ends wrong or None)."""
    seen, todo = set(), [()]
    while todo:
        path = todo.pop()
        machine = Machine(programs, memory)
        for choice in path:
            machine.do(*choice)
        key = machine.key()
        if key in seen:
            continue
        seen.add(key)
        choices = machine.choices()
        if not choices:
            if any(machine.next):
                return len(seen), path + (("stuck",),)
            last = {place: messages[-1][0] for place, messages in machine.memory.items()}
            if not is_right(dict(machine.finished), last):
                return len(seen), path
        todo += [path + (choice,) for choice in choices]
    return len(seen), None


# ---- Counters of queues: verbs/owner_counter.h ----

OUT, IN, COUNTING = 0, 1, 2
CHANGING, SHARED = "changing", "shared"


def counter(number, visits, *, barrier=True, stay=True, leave=REL, wait=ACQ, take=BOTH, give=REL):
    """A thread that visits a queue; owner 0 has it at first."""

    def program(_machine):
        for _ in range(visits):
            stage = None
            while stage is None:  # tap_owner_counter_enter(), and _begin_slow()
                owner = yield "load", "owner", RLX
                if owner == number:
                    yield "store", f"stage{number}", IN, REL
                    if (yield "load", "owner", RLX) == number:
                        stage = f"stage{number}"
                        break
                    yield "store", f"stage{number}", OUT, leave
                # take_over(); a third thread shares
                owner = yield "await", "owner", CHANGING, ACQ if take == BOTH else RLX
                if owner in (SHARED, number):
                    break
                before = yield ("change", "owner",
                                lambda o, owner=owner: CHANGING if o == owner else None, take)
                if before != owner:
                    continue
                if barrier:
                    yield ("barrier",)
                seen = yield "await", f"stage{owner}", COUNTING, wait
                mine = seen == OUT and number == 1
                yield "store", "owner", number if mine else SHARED, give
                if not mine:
                    break
            plain = False
            if stage:  # tap_owner_counter_count()
                yield "store", stage, COUNTING, REL
                plain = (yield "load", "owner", RLX) == number
                if not plain:
                    yield "store", stage, IN if stay else OUT, REL
            if plain:
                count = yield "load", "count", RLX
                yield "store", "count", count + 1, RLX
                yield "store", stage, OUT, leave
            else:
                yield "change", "count", lambda c: c + 1, RLX
                if stage:
                    yield "store", stage, OUT, leave
    return program


def counters(visits, **orders):
    places = {"owner": 0, "count": 0}
    places.update({f"stage{i}": OUT for i in range(len(visits))})
    return explore([counter(i, n, **orders) for i, n in enumerate(visits)], places,
                   lambda _results, last: last["count"] == sum(visits))


# ---- The gate of events: common/gate.h ----


def gate(*, barrier=True, leave=REL, look=ACQ):
    def writer(_machine):
        yield "store", "nr_events", 1, RLX
        if not (yield "load", "nr_shut", ACQ):
            yield "store", "event", "half", RLX
            yield "store", "event", "whole", RLX
        yield "store", "nr_events", 0, leave

    def shutter(_machine):
        yield "change", "nr_shut", lambda n: n + 1, SC
        if barrier:
            yield ("barrier",)
        yield "await", "nr_events", 1, look
        first = yield "load", "event", RLX
        return first, (yield "load", "event", RLX)

    # No half event, and none that begins later.
    return explore([writer, shutter], {"nr_events": 0, "nr_shut": 0, "event": "none"},
                   lambda results, _last: results[1][0] != "half" and
                   results[1][0] == results[1][1] == _last["event"])


# ---- What a thread shows of its call: intercept/entry.h ----


def shown(*, hide=True, show=REL, first=ACQ, fence=True):
    def caller(_machine):
        for call in (1, 2):
            yield "store", "function", call, RLX
            yield "store", "call_id", call, show
            yield "store", "call_id", 0, RLX
            if hide:
                yield "fence", REL

    def reader(_machine):
        before = yield "load", "call_id", first
        function = yield "load", "function", RLX
        if fence:
            yield "fence", ACQ
        after = yield "load", "call_id", RLX
        return not before or before != after or function == before

    return explore([caller, reader], {"call_id": 0, "function": 0},
                   lambda results, _last: results[1])


def check(sentence, run, variants):
    states, wrong = run({})
    print(f"{'not ok' if wrong is not None else 'ok'} - {sentence} ({states} states)")
    if wrong is not None:
        print(f"# {wrong}")
    for name, change in variants.items():
        _states, wrong = run(change)
        print(f"{'ok' if wrong is not None else 'not ok'} - it would not be {name}")
    sys.stdout.flush()


if "--long" in sys.argv:
    check("no visit of a queue is lost: two threads, twice", lambda o: counters((2, 2), **o), {})
    check("nor with a third, which makes it shared", lambda o: counters((1, 1, 1), **o), {})
check("no visit of a queue is lost", lambda o: counters((1, 2), **o),
      {"without a barrier of all processors": {"barrier": False},
       "if who lost the queue left before it counted": {"stay": False},
       "if the owner left without a release": {"leave": RLX},
       "if who takes over saw that without an acquire": {"wait": RLX}})
check("who shuts the gate sees whole events", lambda o: gate(**o),
      {"without a barrier of all processors": {"barrier": False},
       "if a writer left without a release": {"leave": RLX},
       "if who shuts it looked without an acquire": {"look": RLX}})
check("a call that is read while it changes is not mixed", lambda o: shown(**o),
      {"without the fence behind a call": {"hide": False},
       "if a call were shown without a release": {"show": RLX},
       "if a reader did not acquire it": {"first": RLX},
       "if a reader did not look again behind a fence": {"fence": False}})
