/* SPDX-License-Identifier: MIT */
/* The sections of the page, in their order. */

let timeline = null;

/* ---- Findings ---- */

const LOOKS = {error: "error", warning: "warning"};

function lines(text, attributes) {
	return text ? text.split("\n").map((line) =>
		make("p", {class: "text", ...attributes}, line)) : null;
}

function evidenceOf(finding) {
	const value = (one) => one.name.endsWith("_ns") ? duration(one.value)
		: one.name === "bytes" ? bytes(one.value) : orDash(one.value);

	if (!finding.evidence.length)
		return null;
	return make("details", null, make("summary", null, "evidence"),
		table([["", "mono", (one) => one.name], ["", "number", value],
			["", "", (one) => known(one.known)]], finding.evidence));
}

function showFinding(about) {
	const length = PAGE.duration_ns / 20;

	timeline.show(about.time - length / 4, about.time + length);
	document.getElementById("timeline").scrollIntoView();
	timeline.canvas.focus({preventScroll: true});
}

function findingOf(finding, i) {
	const about = PAGE.findings[i];
	const look = finding.kind === "clear" ? "clear" : LOOKS[finding.severity] || "";

	return make("article", {class: "finding " + look},
		make("p", {class: "text"}, make("span", {class: "word"}, about.word), " ",
			make("span", {class: "headline"}, finding.headline)),
		lines(finding.detail), lines(finding.rules_out),
		finding.next ? lines("-> " + finding.next, {class: "text next"}) : null,
		evidenceOf(finding),
		about.time !== null && look && look !== "clear" && timeline
			? make("button", {type: "button", click: () => showFinding(about)},
				"show in the timeline (" + (i + 1) + ")") : null);
}

function findingsSection() {
	const rest = PAGE.other_findings;

	return section("findings", "What is wrong", folded(REPORT.findings.map(findingOf), 6, "finding"),
		rest ? make("p", null, counted(rest, "more finding") + ": ccltap why") : null,
		make("p", {class: "text muted"}, PAGE.failures));
}

function diffSection() {
	if (!DIFF)
		return null;
	const name = PAGE.baseline || "the other run";
	const gone = {gone: "clear", faster: "clear", earlier: "clear"};

	return section("diff", "What changed since " + name,
		DIFF.changes.length ? null
			: make("p", null, "No difference is larger than the noise of either run."),
		folded(DIFF.changes.map((change) => make("article", {class: "finding " + (gone[change.change] || "warning")},
			make("p", {class: "text"}, make("span", {class: "word"}, change.change.toUpperCase()), " ",
				change.text))), 8, "change"),
		DIFF.other_changes ? make("p", null, counted(DIFF.other_changes, "smaller change") +
			": ccltap report --diff --json") : null,
		make("p", {class: "muted"}, counted(DIFF.same, "measure") + " differ by noise alone, " +
			DIFF.too_few + " have too few values to tell, " + DIFF.only_once + " are of one run only."));
}

/* ---- Time ---- */

function timeSection() {
	const rest = PAGE.other_collectives;

	if (!REPORT.collectives.length)
		return null;
	return section("time", "Where the time of the collectives goes",
		make("p", {class: "muted"}, "One after the other: medians of each rank's way from its call to " +
			"its kernel, then the means of waiting, from the first rank's start to the last one's, and " +
			"of transfer, from then to the end."),
		barsSection(),
		rest ? make("p", null, counted(rest, "more row") + " of less time: ccltap report --json") : null);
}

/* The bars of the rows that took most time, and the others, in one scale. */
function barsSection() {
	const all = REPORT.collectives, first = all.length > 14 ? 12 : all.length;

	return [stackedBars(all.slice(0, first), all),
		first < all.length ? make("details", {class: "more"},
			make("summary", null, counted(all.length - first, "more row")),
			stackedBars(all.slice(first), all)) : null];
}

/* ---- Who is late, who waits ---- */

function columnName(column) {
	return (column.name ? column.name.replace(/^nccl/, "") : "different functions") +
		" #" + column.op_number;
}

function thinned(words) {
	return words.filter(Boolean).map((one) => make("p", {class: "muted thinned"}, one));
}

function arrivalsSection() {
	const arrivals = PAGE.arrivals;
	const together = arrivals.operations_in_column;

	arrivals.rows.sort((a, b) => byRank(a.rank, b.rank));
	if (!arrivals.columns.length)
		return null;
	return section("arrivals", "Who comes late to which operation",
		make("p", {class: "muted"}, "A row for each rank, a column for each collective in order of " +
			"time: how much later than the first rank it was ready. Choose a cell to see its time below."),
		matrix({
			scale: ["in time", "latest"], unit: duration, hasMissing: true,
			title: "Lateness of each rank in each collective",
			rows: arrivals.rows.map((row) => rankLabel(PAGE.ranks[row.rank])),
			columns: arrivals.columns.map(columnName),
			columnLabels: arrivals.columns.length <= 60,
			value: (i, j) => {
				const late = arrivals.rows[i].late_ns[j];

				return late === -2 ? null : late;
			},
			isInferred: (i, j) => arrivals.columns[j].known !== "exact",
			tell: (i, j) => {
				const column = arrivals.columns[j], late = arrivals.rows[i].late_ns[j];

				return [rankLabel(PAGE.ranks[arrivals.rows[i].rank]) + ", " + columnName(column) +
					(together > 1 ? " and up to " + (together - 1) + " after it" : "") +
					(REPORT.summary.communicators > 1 ? " on " + communicator(column.comm_key) : ""),
				late === -2 ? "no part in it, or no time that may be compared"
					: late === -1 ? "no call of it was seen"
					: duration(late) + " after the first rank" +
						(column.known === "exact" ? "" : " (inferred, by the calls)")].join("\n");
			},
			choose: (i, j) => {
				const column = arrivals.columns[j];
				const late = Math.max(...arrivals.rows.map((row) => row.late_ns[j]), 1e5);

				if (timeline)
					timeline.show(column.begin - late / 4, column.until + 1.5 * late);
			},
		}),
		thinned([
			together > 1 ? counted(arrivals.operations, "operation") + " are too many for a column each: " +
				"a column has " + together + ", and shows the largest lateness." : "",
			arrivals.other_ranks ? counted(arrivals.other_ranks, "rank") +
				" that are less late have no row here." : "",
			arrivals.unranked ? counted(arrivals.unranked, "arrival") +
				" of ranks beyond the 1024th are left out." : "",
		]));
}

function waitsSection() {
	const pairs = PAGE.waits.pairs.filter((pair) => pair.waited_ns > 0 || pair.message_ns > 0);
	const by = new Map(pairs.map((pair) => [pair.rank * 4096 + pair.waits_for, pair]));
	const ranks = [...new Set(pairs.flatMap((pair) => [pair.rank, pair.waits_for]))]
		.sort(byRank).slice(0, 256);
	const find = (i, j) => by.get(ranks[i] * 4096 + ranks[j]);
	const words = (pair) => [
		pair.times ? duration(pair.waited_ns) + " in " + counted(pair.times, "collective") +
			(pair.known === "exact" ? "" : " (inferred)") : "",
		pair.messages ? duration(pair.message_ns) + " for " + counted(pair.messages, "message") +
			(pair.messages_known === "exact" ? "" : " (inferred)") : ""].filter(Boolean).join(", ");

	if (!pairs.length)
		return null;
	return section("waits", "Who waits for whom",
		make("p", {class: "muted"}, "Rows wait for columns: the time until the last rank of a collective, " +
			"or the other side of a message, was ready."),
		make("div", {class: "panes"},
			matrix({
				title: "Who waits for whom", width: 560,
				scale: ["no wait", "longest"], unit: duration,
				rows: ranks.map((one) => rankLabel(PAGE.ranks[one])),
				columns: ranks.map((one) => rankLabel(PAGE.ranks[one])),
				value: (i, j) => {
					const pair = find(i, j);

					return pair ? pair.waited_ns + pair.message_ns : null;
				},
				isInferred: (i, j) => {
					const pair = find(i, j);

					return pair.known !== "exact" && pair.waited_ns > 0;
				},
				tell: (i, j) => rankLabel(PAGE.ranks[ranks[i]]) + " waits for " +
					rankLabel(PAGE.ranks[ranks[j]]) + "\n" + (find(i, j) ? words(find(i, j)) : "never"),
			}),
			table([["waits", "", (pair) => rankLabel(PAGE.ranks[pair.rank])],
				["for", "", (pair) => rankLabel(PAGE.ranks[pair.waits_for])],
				["how long", "wide", words],
				["known", "", (pair) => known(pair.times ? pair.known : pair.messages_known)]],
			pairs.slice(0, 12))),
		thinned([
			pairs.length > 12 ? "The table has the longest 12 of " + counted(pairs.length, "pair") + "." : "",
			PAGE.waits.other_pairs || PAGE.waits.other_waits ? "Pairs with shorter waits are left out: " +
				counted(PAGE.waits.other_pairs + PAGE.waits.other_waits, "wait or pair", "waits or pairs") + "." : "",
		]));
}

/* ---- The network ---- */

function trafficMatrix(traffic) {
	const numbers = [...new Set(traffic.pairs.flatMap((pair) =>
		pair.peer === null ? [pair.process] : [pair.process, pair.peer]))];
	const rankOf = (number) => {
		const process = PROCESSES.get(number);

		return process && process.rank !== null ? process.rank : 1e9 + number;
	};
	const ends = numbers.sort((a, b) => rankOf(a) - rankOf(b)).slice(0, 256);
	const isUnknown = traffic.pairs.some((pair) => pair.peer === null);
	const columns = isUnknown ? [...ends, null] : ends;
	const by = new Map(traffic.pairs.map((pair) => [pair.process + ">" + pair.peer, pair]));
	const find = (i, j) => by.get(ends[i] + ">" + columns[j]);
	const label = (number) => number === null ? "not known" : processLabel(number);

	return matrix({
		title: "Bytes sent from each rank to each rank", width: 560,
		scale: ["nothing", "most"], unit: bytes,
		rows: ends.map(label), columns: columns.map(label),
		value: (i, j) => {
			const pair = find(i, j);

			return pair ? pair.bytes : null;
		},
		isInferred: (i, j) => find(i, j).known !== "exact",
		tell: (i, j) => {
			const pair = find(i, j);

			return label(ends[i]) + " to " + label(columns[j]) + "\n" + (pair
				? bytes(pair.bytes) + " in " + counted(pair.messages, "message") +
					(pair.known === "exact" ? "" : " (inferred)") : "nothing");
		},
	});
}

function trafficSection() {
	if (!PAGE.traffic.length)
		return null;
	return section("traffic", "What went over the network",
		make("p", {class: "muted"}, "Rows send to columns. What NCCL moves through memory that GPUs or " +
			"processes share leaves no trace and is not here; the check below names it."),
		PAGE.traffic.map((traffic) => make("div", null,
			make("h3", null, traffic.what === "messages" ? "NCCL's messages" : "Work requests"),
			trafficMatrix(traffic),
			traffic.latency.count ? [
				make("p", null, "Latency, ", traffic.latency.of, ": ",
					counted(traffic.latency.count, "message"), ", median ",
					(traffic.latency.rounded ? "~" : "") + duration(traffic.latency.p50_ns), ", p99 ",
					(traffic.latency.rounded ? "~" : "") + duration(traffic.latency.p99_ns), ", longest ",
					duration(traffic.latency.max_ns), " ", known(traffic.latency.known)),
				distribution(traffic.latency)] : make("p", {class: "muted"}, "No latency is known."),
			thinned([traffic.other_pairs ? counted(traffic.other_pairs, "pair") + " with " +
				bytes(traffic.other_bytes) + " are left out." : ""]))));
}

/* ---- The timeline ---- */

function timelineSection() {
	const data = PAGE.timeline;
	const left = data.spans - data.spans_drawn;

	if (!timeline)
		return null;
	return section("timeline", "Timeline",
		make("div", {class: "legend"}, make("span", null, "spans: solid exact or decoded, hatched inferred, " +
			"red and open at the right: never returned or not completed, red: failed"),
		make("span", null, "arrows: solid exact, dashed decoded, dotted inferred")),
		thinned([
			left ? "The timeline draws " + orDash(data.spans_drawn) + " of " + counted(data.spans, "span") +
				", the longest of each row and what failed or never returned; grey marks below a row " +
				"count all of them. Choose with --begin and --end, --rank or --op to see each." : "",
			data.other_rows ? counted(data.other_rows, "row") + " with " +
				counted(data.spans_of_other_rows, "span") + " are not drawn; rows of ranks at fault go first." : "",
			data.other_arrows && left ? counted(data.other_arrows, "arrow") +
				" of spans that are not drawn are left out." : "",
		]),
		timeline.element());
}

/* ---- Ranks, and the check ---- */

function ranksSection() {
	const hasRanks = REPORT.summary.ranks > 0;
	const place = (row) => row.host + (row.device !== null ? "/" + row.device : "");

	if (!REPORT.ranks.length)
		return null;
	return section("ranks", hasRanks ? "Ranks" : "Processes",
		table([[hasRanks ? "rank" : "process", "", (row) => row.rank !== null ? row.rank : "pid " + row.pid],
			["host/GPU", "", place],
			["last in", "number", (row) => orDash(row.times_last)],
			["waited", "number", (row) => duration(row.waited_ns)],
			["", "", (row) => row.waited_known && row.waited_known !== "exact" ? known(row.waited_known) : ""],
			["NCCL kernels", "number", (row) => duration(row.kernels_ns)],
			["calls", "number", (row) => orDash(row.calls)],
			["failed", "number", (row) => orDash(row.failures)],
			["hung", "number", (row) => orDash(row.never_returned)],
			["", "bad", (row) => row.finding ? "<- " + row.finding : ""],
			["command", "wide mono", (row) => (PROCESSES.get(row.process) || {}).command || ""]],
		REPORT.ranks),
		thinned([PAGE.other_rows_of_ranks ? counted(PAGE.other_rows_of_ranks, "more row") +
			": ccltap report --json" : ""]));
}

const VERDICTS = {
	ok: ["good", "nothing is missing, and nothing contradicts itself"],
	incomplete: ["warn", "the trace is complete, the program is not"],
	doubtful: ["warn", "something is uncertain, or could not be observed"],
	bad: ["bad", "something unknown is missing, or the trace contradicts itself"],
};

function verdict() {
	const [look, words] = VERDICTS[CHECK.verdict] || ["", ""];

	return [make("strong", {class: look}, CHECK.verdict), words ? " (" + words + ")" : ""];
}

function lossOf(loss) {
	return Object.entries(loss).filter(([, value]) => typeof value === "number" && value > 0)
		.map(([name, value]) => name.replace(/_/g, " ") + " " + orDash(value)).join(", ");
}

function checkSection() {
	const rows = CHECK.links.filter((row) =>
		row.exact + row.decoded + row.inferred + row.unmatched + row.outstanding > 0);
	const why = (row) => Object.entries(row.why).map(([name, count]) => name + " " + count).join(", ");

	return section("check", "How far the trace can be trusted",
		make("p", null, "Verdict of ccltap check, of the whole trace: ", verdict(), ". ",
			counted(CHECK.events, "event"), "."),
		rows.length ? table([["links", "", (row) => row.kind],
			["exact", "number", (row) => orDash(row.exact)],
			["decoded", "number", (row) => orDash(row.decoded)],
			["inferred", "number", (row) => orDash(row.inferred)],
			["unmatched", "number", (row) => orDash(row.unmatched)],
			["outstanding", "number", (row) => orDash(row.outstanding)],
			["why", "wide", why]], rows) : null,
		CHECK.not_observable.map((one) => make("p", {class: "text"}, "not observable: ", one.what,
			one.why ? " (" + one.why + ")" : "", one.count > 1 ? ", " + one.count + " times" : "")),
		(CHECK.connections || []).filter((one) => one.traffic === "not seen").map((one) =>
			make("p", {class: "text"}, "not observable: what passes over " + one.transport)),
		make("p", {class: "muted"}, "loss: " + (lossOf(CHECK.loss) || "none")),
		make("p", {class: "muted"}, "exact: by a key; decoded: from a layout of a known release; inferred: " +
			"from order, sizes or times; unmatched: no partner is in the trace."));
}

/* ---- What the program does with its library ---- */

const GRADES = {ok: "good", note: "good", unknown: "warn", warning: "bad", error: "bad"};

function auditSection() {
	if (!AUDIT)
		return null;
	const remark = (one) => make("p", {class: "text remark"}, make("strong", {class: GRADES[one.grade]}, one.word),
		" ", one.text);
	const subject = (one) => make("details", {class: "subject", open: GRADES[one.grade] === "bad" ? "" : null},
		make("summary", null, make("strong", {class: GRADES[one.grade]}, one.word), " " + one.title + ": " + one.summary),
		one.remarks.map(remark),
		one.other_remarks ? make("p", null, counted(one.other_remarks, "more remark") + ": ccltap audit --full") : null);

	return section("audit", "What the program does with its library",
		make("p", {class: "text"}, "ccltap audit, of the whole trace: ", AUDIT.headline, "."),
		AUDIT.sections.map(subject),
		make("p", {class: "muted"}, "MEND and ERROR are to be mended; of CANNOT TELL the trace says too little. " +
			"Tables of all subjects: ccltap audit --full"));
}

/* ---- The page ---- */

const SECTIONS = [findingsSection, diffSection, timeSection, arrivalsSection, waitsSection,
	timelineSection, trafficSection, ranksSection, auditSection, checkSection];

function start() {
	const main = document.getElementById("main");

	document.title = PAGE.title ? PAGE.title + " - ccltap report" : "ccltap report";
	document.getElementById("title").textContent = PAGE.title || "ccltap report";
	fill(document.getElementById("headline"), {class: "text"}, [PAGE.headline]);
	fill(document.getElementById("verdict"), null, ["Trace: ", verdict()]);
	if (PAGE.timeline.rows.length)
		timeline = new Timeline(PAGE.timeline, PAGE.duration_ns);
	const sections = SECTIONS.map((one) => one()).filter(Boolean);

	main.replaceChildren(...sections);
	document.getElementById("contents").append(...sections.map((one) =>
		make("a", {href: "#" + one.id}, one.querySelector("h2").textContent)));
	document.getElementById("footer").textContent = "Written by ccltap report --html. The page is complete " +
		"in this file and loads nothing; its data are the JSON of ccltap report, ccltap check and ccltap audit, and what " +
		"the charts need beside them.";
	redrawAll();
	window.addEventListener("resize", redrawAll);
	for (const query of ["(prefers-color-scheme: dark)", "print"])
		window.matchMedia(query).addEventListener("change", redrawAll);
	window.addEventListener("beforeprint", () => {
		for (const one of document.querySelectorAll("details.more, details.subject"))
			one.open = true;
		redrawAll();
	});
	window.addEventListener("afterprint", redrawAll);
	document.documentElement.dataset.ready = "yes";
}

start();
