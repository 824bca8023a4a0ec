# SPDX-License-Identifier: MIT
"""Records runs of mini-NCCL with ccltap, each with the truth about it.

It hides how: what takes long is to begin a recording, so most runs share one; a recording that
begins in the middle waits until the program has worked for a while; and one of which packets
are lost has small ones."""
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import matrix

TOGETHER = 12  # runs of a recording
LIMIT_S = 120
BEGUN = 40  # launches that were made before a late recording begins
ATTEMPTS = 4
LAYERS = ("nccl", "nvtx", "verbs", "cuda", "gpu", "net")
# In the way of no run: of whoever runs the score.
OURS = ("LD_LIBRARY_PATH", "LD_PRELOAD", "CCLTAP_JOB", "SOFTVERBS_FABRIC", "SOFTVERBS_FAULTS")


class Failed(Exception):
    pass


class Config:
    """Settings of a run; record says how it is recorded, all others go to the program."""

    def __init__(self, name, settings):
        self.name, self.settings = name, dict(settings)
        self.record, _, self.share = self.settings.pop("record", "whole").partition("=")
        self.folder = None

    def __str__(self):
        words = [f"{name}={value}" for name, value in self.settings.items()]
        return " ".join([self.name] + words)

    def command(self, how):
        words = [f"{name}={value}" for name, value in self.settings.items()]
        doubles = how.build + "/tests/doubles"
        return ["env", f"LD_LIBRARY_PATH={doubles}/verbs:{doubles}/cupti",
                f"SOFTVERBS_FABRIC=score.{os.getpid()}.{os.path.basename(self.folder)}",
                f"MININCCL_TRUTH={self.folder}", *[word for word in words if word[0].isupper()],
                how.build + "/tests/doubles_tests/programs/configuration",
                *[word for word in words if not word[0].isupper()], f"limit={LIMIT_S // 2}"]


def recordings(how, configs):
    """Yields each recording and its runs, in their order: its path, or why there is none."""
    together = []
    for number, config in enumerate(configs):
        config.folder = os.path.join(how.work, f"truth.{number}")
        os.makedirs(config.folder)
        if config.record == "whole":
            together.append(config)
            if len(together) < TOGETHER:
                continue
        if together:
            yield from record_all(how, together)
            together = []
        if config.record == "late":
            yield attempt(record_late, how, config), [config]
        elif config.record == "lossy":
            yield attempt(record_small, how, config), [config]
        elif config.record != "whole":
            raise Failed(f"record={config.record} is none")
    if together:
        yield from record_all(how, together)


def record_all(how, configs):
    """In one recording; where that fails, each in its own, so that what is wrong with one, or
    too much for the machine, is not wrong with all."""
    path = attempt(record, how, configs)
    if not isinstance(path, Failed) or len(configs) == 1:
        yield path, configs
        return
    why = str(path).strip().replace("\n", "\n# ")
    print(f"# {configs[0].name} to {configs[-1].name} are recorded again: {why}", flush=True)
    shutil.rmtree(path_of(how, configs), ignore_errors=True)
    for config in configs:
        shutil.rmtree(config.folder)
        os.makedirs(config.folder)
        yield attempt(record, how, [config]), [config]


def attempt(way, *arguments):
    try:
        return way(*arguments)
    except Failed as failure:
        return failure


def environment():
    # LTTng gives up after 3 s: a process that waits longer for a processor is not recorded.
    return {"LTTNG_UST_REGISTER_TIMEOUT": "60000"} | \
        {name: value for name, value in os.environ.items() if name not in OURS}


def run(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, errors="replace", check=False,
                          env=environment(), **more)
    if done.returncode:
        raise Failed(f"{shlex.join(command)[:300]}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def path_of(how, configs):
    return os.path.join(how.work, "trace." + os.path.basename(configs[0].folder)[6:])


def record(how, configs):
    path = path_of(how, configs)
    matrix.wait_for_ports()
    # One that fails must not keep the others from being recorded, and is said.
    script = "failed=0\n" + "".join(
        f"{shlex.join(config.command(how))} || {{ echo 'again: {config}'; failed=1; }}\n"
        for config in configs) + "exit $failed\n"
    said = run([how.ccltap, "record", "-o", path, "--", "sh", "-c", script])
    if " 0 discarded" not in said:
        raise Failed(f"{path}: {said}")
    return path


def launches(config):
    """How many it has told of."""
    return sum(path.read_text(encoding="utf-8").count('{"record":"launch"')
               for path in Path(config.folder).glob("truth.*"))


def record_late(how, config):
    """A program that ended before its recording began has more to do the next time."""
    path = path_of(how, [config])
    for _ in range(ATTEMPTS):
        if begins_in_the_middle(how, config, path):
            return path
        config.settings["rounds"] = 2 * int(config.settings["rounds"])
        for folder in config.folder, path:
            shutil.rmtree(folder)
        os.makedirs(config.folder)
    raise Failed(f"{config}: ended before its recording began")


def begins_in_the_middle(how, config, path):
    with subprocess.Popen([how.ccltap, "record", "--paused", "-o", path, "--",
                           *config.command(how)], env=environment(), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as recorder:
        limit = time.monotonic() + LIMIT_S
        while recorder.poll() is None and launches(config) < BEGUN:
            if time.monotonic() > limit:
                recorder.terminate()
            time.sleep(0.02)
        if recorder.poll() is None:
            run([how.ccltap, "start", path])
        has_begun, before = recorder.poll() is None, launches(config)
        said = recorder.communicate()[0]
    if not has_begun or launches(config) == before:
        return False
    if recorder.returncode or " 0 discarded" not in said:
        raise Failed(f"{config}: status {recorder.returncode}\n{said}")
    return True


def record_small(how, config):
    """With packets of 4 KiB, so that there are some to lose."""
    path, session = path_of(how, [config]), f"ccltap-score-{os.getpid()}"

    def lttng(*words):
        run(["lttng", "--no-sessiond", *words])
    lttng("create", session, "--output", path)
    try:
        for channel, extra, level in ("setup", "tap:*,", "INFO"), ("hot", "", "DEBUG"):
            lttng("enable-channel", "-u", "-s", session, "--buffers-uid",
                  "--subbuf-size", "4096", "--num-subbuf", "4096", channel)
            lttng("add-context", "-u", "-s", session, "-c", channel, "-t", "vpid", "-t", "vtid")
            lttng("enable-event", "-u", "-s", session, "-c", channel,
                  extra + ",".join(layer + ":*" for layer in LAYERS), "--loglevel-only", level)
        lttng("start", session)
        run(["sh", "-c", 'eval "$("$0" env)"; exec "$@"', how.ccltap, *config.command(how)])
        lttng("stop", session)
    finally:
        lttng("destroy", session)
    return path


def drop_packets(path, share):
    """A copy of the recording that lacks some of its packets, the same of each run."""
    lossy = path + ".lossy"
    run(["cp", "-r", path, lossy])
    run([sys.executable, os.path.join(os.path.dirname(__file__), "../lib/drop-packets.py"),
         lossy, share, "1"])
    return lossy
