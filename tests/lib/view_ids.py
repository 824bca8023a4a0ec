# SPDX-License-Identifier: MIT
"""What Trace Compass requires of its XML analyses that their schema (XSD) does not say.

A file can be valid, be imported and have its views listed, and yet no view opens: the
label of a view becomes the secondary id of its window in Eclipse.  The rules, as they are
in the sources of Trace Compass (org.eclipse.tracecompass, August 2026) and Eclipse:

  * TmfXmlViewOutput.openView() calls IWorkbenchPage.showView() with the label as secondary
    id; WorkbenchPage.showView() throws "Illegal secondary id" when that is empty or has a
    colon.  A view without a label takes the name of the kind of view, which others have.
  * TmfXmlAnalysisOutputSource.moduleCreated() joins the id of a view, the path of its file
    and its label with ";;;", and splits them again.
  * AbstractXmlViewInfo.getPersistentPropertyStore() keeps which view a window shows under
    the window's label: two views with one label are one.
  * CallStackAnalysisListener opens a flame chart under the id of the callstack, and
    TmfXmlAnalysisOutputSource views of a pattern under its viewLabelPrefix, which stands
    for "Latency" in their titles (String.replaceFirst(): "$" and "\\" mean something);
    TmfAnalysisViewOutput.openView() cuts both at "&".
  * TmfStateSystemAnalysisModule.getSsFileName() makes a file's name of an analysis's id.
  * A view is listed below the analysis that it names: one that no file has lists it nowhere.

usage: view_ids.py XML...
"""

import sys
import xml.etree.ElementTree as ElementTree

VIEWS = ("timeGraphView", "xyView")
ANALYSES = ("stateProvider", "pattern")
SEPARATOR = ";;;"


def head_value(element, tag):
    found = element.find(f"head/{tag}")
    return None if found is None else found.get("value")


def bad_secondary_id(text, more=""):
    if not text:
        return "it is empty"
    for part in (":", SEPARATOR) + tuple(more):
        if part in text:
            return f'it has "{part}"'
    return None


def problems(files):
    roots = [(name, ElementTree.parse(name).getroot()) for name in files]
    known = {element.get("id") for _, root in roots for element in root
             if element.tag in ANALYSES}
    seen = set()
    for name, root in roots:
        for element in root:
            where = f"{name}: {element.tag} {element.get('id')}"
            labels = []
            if element.tag in VIEWS:
                labels = [(head_value(element, "label"), "")]
            elif element.tag == "callstack":
                labels = [(element.get("id"), "&")]
            elif element.find("head/viewLabelPrefix") is not None:
                labels = [(head_value(element, "viewLabelPrefix"), "&$\\")]
            for label, more in labels:
                bad = bad_secondary_id(label, more)
                if bad:
                    yield f'{where}: "{label}" cannot be the id of a window: {bad}'
                elif label in seen:
                    yield f'{where}: "{label}" is the id of another window, too'
                seen.add(label)
            if SEPARATOR in element.get("id", "") or "/" in element.get("id", ""):
                yield f"{where}: the id has \"{SEPARATOR}\" or a slash"
            for analysis in element.iter("analysis"):
                if analysis.get("id") not in known:
                    yield f"{where}: no file has the analysis {analysis.get('id')}"


def main():
    found = list(problems(sys.argv[1:]))
    for problem in found:
        print(problem)
    sys.exit(1 if found or len(sys.argv) < 2 else 0)


if __name__ == "__main__":
    main()
