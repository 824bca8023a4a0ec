# SPDX-License-Identifier: MIT
"""What was found: as TAP while it goes on, and as JSON and Markdown at the end."""
import json
import os

import overhead

WHAT_THEY_ARE = {
    "device": "GPU", "devices": "how many", "driver": "CUDA version of the driver",
    "nccl": "NCCL", "cupti": "CUPTI", "torch": "PyTorch", "kernel": "Linux",
    "processors": "processors", "ccltap": "ccltap",
}


class Results:
    """What was found so far is in results.json and results.md of a folder."""

    def __init__(self, facts, folder):
        self.facts = facts
        self.folder = folder
        self.checks = []
        self.costs = []

    def add(self, part, check, status, detail=""):
        """status: ok, not ok or skip."""
        self.checks.append({"part": part, "check": check, "status": status,
                            "detail": detail})
        line = f"{'not ok' if status == 'not ok' else 'ok'} {len(self.checks)} - " \
               f"{part}: {check}"
        print(line + (f" # SKIP {detail}" if status == "skip" else ""), flush=True)
        if status == "not ok":
            print("\n".join("# " + text for text in detail.splitlines()), flush=True)

    def judge(self, part, check, wrong, numbers=""):
        self.add(part, check, "not ok" if wrong else "ok", "\n".join(wrong) or numbers)

    def is_good(self):
        return all(check["status"] != "not ok" for check in self.checks)

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        for name, text in (("json", self.as_json()), ("md", self.as_markdown())):
            with open(f"{self.folder}/results.{name}", "w", encoding="utf-8") as file:
                file.write(text)

    def as_json(self):
        return json.dumps({"schema": 1, "facts": self.facts, "checks": self.checks,
                           "costs": self.costs}, indent=1) + "\n"

    def as_markdown(self):
        """The part of doc/gpu-results.md that is made."""
        lines = []
        if self.facts["double"]:
            lines += ["These are results of **doubles** of the CUDA driver and NCCL: no GPU was "
                      "there, and no time in them means anything.", ""]
        lines += ["| machine | |", "|---|---|"]
        lines += [f"| {name} | {self.facts[fact]} |" for fact, name in WHAT_THEY_ARE.items()
                  if fact in self.facts]
        lines += ["", "| part | what was checked | result |", "|---|---|---|"]
        for check in self.checks:
            result = {"ok": "yes", "not ok": "**no**",
                      "skip": "not checked: "}[check["status"]]
            if check["status"] != "ok":
                result += check["detail"].split("\n")[0].replace("|", "\\|")
            elif check["detail"]:
                result += ": " + check["detail"]
            lines.append(f"| {check['part']} | {check['check']} | {result} |")
        if self.costs and not self.facts["double"]:
            lines += ["", "What recording costs: of runs that took turns the median time "
                      "untraced, and by how much the others were longer (median, least and "
                      "most of the rounds).", "", overhead.table(self.costs)]
        return "\n".join(lines) + "\n"
