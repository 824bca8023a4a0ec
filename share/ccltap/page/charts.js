/* SPDX-License-Identifier: MIT */
/* Stacked bars, a distribution, and a matrix. */

/* ---- Stacked bars ---- */

const PHASES = [
	["call", "call, until the launch"],
	["launch", "launch"],
	["queue", "GPU queue"],
	["waiting", "waiting for the last rank"],
	["transfer", "transfer"],
];

/*
 * Where the time of a row of the report's collectives went, in ns: of each rank's way to
 * its kernel the medians; then the means of waiting and transfer, of the operations whose
 * kernels are known. Null: not known.
 */
function phasesOf(operation) {
	const timed = operation.timed || 0;
	const launch = operation.launch_ns;
	const waits = operation.waiting_ns;

	return {
		call: operation.call_ns,
		launch,
		queue: operation.queue_ns === null || operation.queue_ns === undefined ? null
			: Math.max(0, operation.queue_ns - (launch || 0)),
		waiting: waits === null ? null : waits / (timed || operation.count || 1),
		transfer: timed && operation.total_ns !== null && waits !== null
			? Math.max(0, operation.total_ns - waits) / timed : operation.transfer_ns,
	};
}

function hatchPattern() {
	return draw("svg", {class: "unseen", width: 0, height: 0, "aria-hidden": "true"},
		draw("defs", null,
			draw("pattern", {id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse",
				patternTransform: "rotate(45)"},
			draw("line", {class: "hatch", x1: 0, y1: 0, x2: 0, y2: 6}))));
}

function legendOf(entries) {
	return make("div", {class: "legend"}, entries.map(([name, words, isHatched]) =>
		make("span", null,
			draw("svg", {width: 14, height: 14, "aria-hidden": "true"},
				draw("rect", {class: "phase-" + name, width: 14, height: 14}),
				isHatched ? draw("rect", {fill: "url(#hatch)", width: 14, height: 14}) : null),
			words)));
}

function barOf(operation, phases, whole) {
	const bar = draw("svg", {viewBox: "0 0 1000 20", preserveAspectRatio: "none", role: "img",
		"aria-label": valuesOf(phases)});
	let at = 0;

	for (const [name, words] of PHASES) {
		const width = whole ? (phases[name] || 0) / whole * 1000 : 0;

		if (!width)
			continue;
		bar.append(draw("rect", {class: "phase-" + name, x: at, y: 1, height: 18,
			width: Math.max(width, 0.6)},
		draw("title", null, words + ": " + duration(phases[name]))));
		if (name === "waiting" && operation.waiting_known !== "exact")
			bar.append(draw("rect", {fill: "url(#hatch)", x: at, y: 1, height: 18, width}));
		at += width;
	}
	return bar;
}

function valuesOf(phases) {
	return PHASES.filter(([name]) => phases[name] !== null && phases[name] !== undefined)
		.map(([name, words]) => words.replace(", until the launch", "") + " " +
			duration(phases[name])).join(" \u00b7 ");
}

function sizeOf(operation) {
	if (operation.min_bytes === null)
		return "";
	return operation.max_bytes > operation.min_bytes
		? bytes(operation.min_bytes) + " to " + bytes(operation.max_bytes)
		: bytes(operation.min_bytes);
}

/* Bars of some of all operations: the longest of all gives the scale. */
function stackedBars(operations, every) {
	const several = REPORT.summary.communicators > 1;
	const all = operations.map(phasesOf);
	const sumOf = (phases) => PHASES.reduce((sum, [name]) => sum + (phases[name] || 0), 0);
	const longest = Math.max(0, ...every.map((one) => sumOf(phasesOf(one))));
	const chart = make("div", {class: "bars"});
	const isOwn = make("input", {type: "checkbox", change: () => show()});

	function show() {
		chart.replaceChildren();
		operations.forEach((operation, i) => {
			const facts = [counted(operation.count, "time"),
				operation.median_ns !== null ? "median " + duration(operation.median_ns) : "",
				operation.bus_bandwidth !== null ? "busbw " + rate(operation.bus_bandwidth) : "",
				operation.algorithm ? operation.algorithm + " " + (operation.protocol || "") : "",
			].filter(Boolean).join(", ");

			chart.append(make("div", {class: "label"}, make("strong", null, operation.name), " ",
				sizeOf(operation), several || COMMUNICATORS.has(operation.comm_key)
					? " on " + communicator(operation.comm_key) : ""),
			barOf(operation, all[i], isOwn.checked ? sumOf(all[i]) : longest),
			make("div", {class: "values"}, valuesOf(all[i]) || "no times are known", " \u00b7 ",
				facts, " ", operation.waiting_known ? known(operation.waiting_known) : ""));
		});
	}
	show();
	return make("figure", null, hatchPattern(),
		legendOf([...PHASES, ["waiting", "inferred, by the calls", true]]),
		make("label", {class: "controls"}, isOwn, "each bar in its own scale"), chart);
}

/* ---- Distribution ---- */

/* Counts are [from, to, count] in ns; the axis is logarithmic. */
function distribution(latency) {
	const width = 720, height = 170, left = 46, bottom = 26, top = 14;
	const counts = latency.counts;
	const low = Math.log10(Math.max(1, counts[0][0])) - 0.05;
	const high = Math.log10(Math.max(counts[counts.length - 1][1], 2)) + 0.05;
	const most = Math.max(...counts.map((one) => one[2]));
	const x = (ns) => left + (Math.log10(Math.max(ns, 1)) - low) / (high - low) * (width - left - 10);
	const y = (count) => height - bottom - count / most * (height - bottom - top);
	const chart = draw("svg", {class: "chart", width, height, viewBox: `0 0 ${width} ${height}`,
		role: "img", "aria-label": "distribution of latencies"});

	for (const [from, to, count] of counts)
		chart.append(draw("rect", {class: "phase-transfer", x: x(from), y: y(count),
			width: Math.max(1, x(to) - x(from) - 0.5), height: Math.max(1, height - bottom - y(count))},
		draw("title", null, duration(from) + " to " + duration(to) + ": " + counted(count, "message"))));
	chart.append(draw("line", {class: "axis", x1: left, x2: width, y1: height - bottom,
		y2: height - bottom}));
	const steps = high - low > 3 ? [1] : [1, 2, 5];
	for (let power = Math.floor(low); power <= high; power++)
		for (const step of steps) {
			const ns = step * 10 ** power;

			if (Math.log10(ns) < low || Math.log10(ns) > high)
				continue;
			chart.append(draw("line", {class: "axis", x1: x(ns), x2: x(ns), y1: height - bottom,
				y2: height - bottom + 4}),
			draw("text", {x: Math.min(x(ns), width - 22), y: height - 8, "text-anchor": "middle"},
				duration(ns)));
		}
	chart.append(draw("text", {x: left - 5, y: y(most) + 4, "text-anchor": "end"}, orDash(most)));
	for (const [name, ns, row] of [["p50", latency.p50_ns, 0], ["p99", latency.p99_ns, 1]]) {
		const isRight = x(ns) > width - 60;

		chart.append(draw("line", {class: "marker", x1: x(ns), x2: x(ns), y1: 4, y2: height - bottom}),
			draw("text", {x: x(ns) + (isRight ? -4 : 4), y: 12 + row * 12,
				"text-anchor": isRight ? "end" : "start"}, name));
	}
	return make("div", {class: "scroll"}, chart);
}

/* ---- Matrix ---- */

function mix(a, b, share) {
	const part = (text, at) => parseInt(text.slice(at, at + 2), 16);

	return "rgb(" + [1, 3, 5].map((at) =>
		Math.round(part(a, at) + (part(b, at) - part(a, at)) * share)).join(",") + ")";
}

/* A colour for a share from 0 to 1, of colours that get ever stronger. */
function heat(share, stops) {
	const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
	const i = Math.min(Math.floor(at), stops.length - 2);

	return mix(stops[i], stops[i + 1], at - i);
}

function swatch(name, words) {
	const square = draw("rect", {width: 14, height: 14});

	square.style.fill = "var(--" + name + ")";
	return make("span", null, draw("svg", {width: 14, height: 14, "aria-hidden": "true"}, square), words);
}

/*
 * A matrix of cells, drawn by the square root of their values: what is small stays pale, and
 * what is a hundredth of the largest is seen. Options: rows and columns
 * (labels), value(row, column): a number, null for nothing, or -1 for what is missing;
 * isInferred(row, column), tell(row, column): words, choose(row, column), title, width,
 * scale (words for nothing and for the most), unit(value).
 */
function matrix(options) {
	const {rows, columns} = options;
	const canvas = make("canvas", {tabindex: 0, role: "img", "aria-label": options.title});
	const line = make("p", {class: "muted", "aria-live": "polite"}, "\u00a0");
	const gutter = 86;
	/* Labels of columns stand aslant. */
	const slant = options.columnLabels === false ? 0
		: Math.min(90, 8 + 4.6 * Math.max(...columns.map((label) => label.length)));
	const head = 4 + slant;
	const available = Math.min(options.width || 1160, 1160) - gutter - slant - 4;
	const wide = Math.max(2, Math.min(options.cell || 26, Math.floor(available / columns.length)));
	const high = Math.max(2, Math.min(22, Math.floor(620 / rows.length)));
	let cursor = null, most = 0;

	for (let i = 0; i < rows.length; i++)
		for (let j = 0; j < columns.length; j++)
			most = Math.max(most, options.value(i, j) || 0);

	function share(value) {
		return most > 0 && value > 0 ? Math.sqrt(value / most) : 0;
	}

	function redraw() {
		const context = sized(canvas, gutter + wide * columns.length + slant + 2,
			head + high * rows.length + 2);
		const stops = [0, 1, 2, 3].map((i) => colour("heat-" + i));
		const lines = hatching(context, colour("page"));
		const gap = Math.min(wide, high) > 5 ? 1 : 0;

		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		context.fillStyle = colour("muted");
		context.textAlign = "right";
		const every = Math.max(1, Math.ceil(13 / high));
		rows.forEach((label, i) => {
			if (i % every === 0)
				context.fillText(label, gutter - 6, head + high * (i + 0.5), gutter - 8);
		});
		if (slant) {
			const each = Math.max(1, Math.ceil(14 / wide));

			columns.forEach((label, j) => {
				if (j % each)
					return;
				context.save();
				context.translate(gutter + wide * (j + 0.5), head - 5);
				context.rotate(-Math.PI / 4);
				context.textAlign = "left";
				context.fillText(label, 0, 0, slant * 1.35);
				context.restore();
			});
		}
		for (let i = 0; i < rows.length; i++)
			for (let j = 0; j < columns.length; j++) {
				const value = options.value(i, j);
				const x = gutter + wide * j, y = head + high * i;

				if (value === null)
					continue;
				context.fillStyle = value < 0 ? colour("missing") : heat(share(value), stops);
				context.fillRect(x, y, wide - gap, high - gap);
				if (value > 0 && options.isInferred && options.isInferred(i, j)) {
					context.fillStyle = lines;
					context.fillRect(x, y, wide - gap, high - gap);
				}
			}
		if (cursor) {
			context.strokeStyle = colour("link");
			context.lineWidth = 2;
			context.strokeRect(gutter + wide * cursor[1] - 1, head + high * cursor[0] - 1,
				wide + 2 - gap, high + 2 - gap);
		}
	}

	function at(event) {
		const box = canvas.getBoundingClientRect();
		const j = Math.floor((event.clientX - box.left - gutter) / wide);
		const i = Math.floor((event.clientY - box.top - head) / high);

		return i >= 0 && i < rows.length && j >= 0 && j < columns.length ? [i, j] : null;
	}

	function say() {
		line.textContent = cursor ? options.tell(...cursor).replace(/\n/g, "; ") : "\u00a0";
	}

	canvas.addEventListener("mousemove", (event) => {
		const cell = at(event);

		showTip(event, cell ? options.tell(...cell) : "");
	});
	canvas.addEventListener("mouseleave", (event) => showTip(event, ""));
	canvas.addEventListener("click", (event) => {
		cursor = at(event) || cursor;
		redraw();
		say();
		if (cursor && options.choose)
			options.choose(...cursor);
	});
	canvas.addEventListener("keydown", (event) => {
		const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
			Home: [0, -columns.length], End: [0, columns.length]}[event.key];

		if (event.key === "Enter" && cursor && options.choose)
			options.choose(...cursor);
		if (!step)
			return;
		event.preventDefault();
		cursor = cursor || [0, 0];
		cursor = [Math.min(Math.max(cursor[0] + step[0], 0), rows.length - 1),
			Math.min(Math.max(cursor[1] + step[1], 0), columns.length - 1)];
		redraw();
		say();
	});
	REDRAW.push(redraw);
	redraw();
	return make("div", null,
		options.scale ? make("div", {class: "legend"}, ["heat-0", "heat-1", "heat-2", "heat-3"].map((name, i) =>
			swatch(name, i === 0 ? options.scale[0]
				: i === 3 ? options.scale[1] + " (" + options.unit(most) + ")" : "")),
		options.hasMissing ? swatch("missing", "no call was seen") : null,
		make("span", {class: "muted"}, "hatched: inferred")) : null,
		make("div", {class: "matrix"}, canvas), line);
}
