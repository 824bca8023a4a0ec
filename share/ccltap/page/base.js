/* SPDX-License-Identifier: MIT */
/*
 * What all parts of the page share: its data, elements, words for numbers, colours.
 *
 * Text of a trace becomes part of the page by text nodes alone: nothing here or in the
 * other files parses markup, and make() sets no attribute that could hold a script.
 */
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function block(name) {
	return JSON.parse(document.getElementById("data-" + name).textContent);
}

const REPORT = block("report"), CHECK = block("check"), DIFF = block("diff"),
	AUDIT = block("audit"), PAGE = block("page");

/* ---- Elements ---- */

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (typeof value === "function")
			element.addEventListener(name, value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value);
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined && child !== "")
			element.append(child);
	return element;
}

/* make("p", {class: "muted", click: function}, "text", element, ...) */
function make(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

function section(id, title, ...children) {
	return make("section", {id}, make("h2", null, title), children);
}

/* The first of many, and the others where somebody asks for them, or on paper. */
function folded(elements, first, what) {
	const rest = elements.length - first;

	return rest < 2 ? elements : [elements.slice(0, first),
		make("details", {class: "more"}, make("summary", null, counted(rest, "more " + what)),
			elements.slice(first))];
}

/* Columns are [header, class or "", function of a row]. */
function table(columns, rows) {
	return make("div", {class: "scroll"},
		make("table", null,
			make("thead", null, make("tr", null, columns.map(([header, kind]) =>
				make("th", {class: kind === "number" ? kind : null, scope: "col"}, header)))),
			make("tbody", null, rows.map((row) =>
				make("tr", null, columns.map(([, kind, cell]) =>
					make("td", {class: kind}, cell(row))))))));
}

/* "exact", "decoded", "inferred" or "unknown", told apart by its border, too. */
function known(how) {
	return make("span", {class: "known " + (how || "unknown")}, how || "unknown");
}

/* ---- Words ---- */

function digits(value) {
	return value >= 100 ? String(Math.round(value))
		: value >= 10 ? value.toFixed(1).replace(/\.0$/, "")
		: value.toFixed(2).replace(/\.?0+$/, "");
}

function inUnits(value, units) {
	let i = 0;

	while (i + 1 < units.length && Math.abs(value) >= units[i + 1][0] * 0.9995)
		i++;
	return (value < 0 ? "-" : "") + digits(Math.abs(value) / units[i][0]) + " " + units[i][1];
}

const TIME_UNITS = [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]];
const BYTE_UNITS = [[1, "B"], [1024, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]];
const RATE_UNITS = [[1, "B/s"], [1e3, "KB/s"], [1e6, "MB/s"], [1e9, "GB/s"]];

function duration(ns) {
	return ns === null || ns === undefined ? "-" : inUnits(ns, TIME_UNITS);
}

function bytes(count) {
	return count === null || count === undefined ? "-" : inUnits(count, BYTE_UNITS);
}

function rate(perSecond) {
	return perSecond === null || perSecond === undefined ? "-" : inUnits(perSecond, RATE_UNITS);
}

function counted(count, what, plural) {
	return count.toLocaleString("en") + " " + (count === 1 ? what : plural || what + "s");
}

function orDash(value) {
	return value === null || value === undefined ? "-" : value.toLocaleString("en");
}

const COMMUNICATORS = new Map(PAGE.communicators.map((one) => [one.comm_key, one.name]));

/* "world (0x1f2e3d4c..)": the name that the program gave, and the key as the tool prints it. */
function communicator(key) {
	const short = !key ? "?" : key.length > 10 ? key.slice(0, 10) + ".." : key;
	const name = COMMUNICATORS.get(key);

	return name ? name + " (" + short + ")" : short;
}

/* ---- Processes and ranks ---- */

const PROCESSES = new Map(PAGE.processes.map((process) => [process.process, process]));

function processLabel(number) {
	const process = PROCESSES.get(number);

	if (!process)
		return "process " + number;
	return process.rank !== null ? "rank " + process.rank
		: process.pid !== null ? "pid " + process.pid : "process " + number;
}

function processTitle(number) {
	const process = PROCESSES.get(number);

	if (!process || process.rank === null || process.pid === null)
		return processLabel(number) + (process && process.host ? " on " + process.host : "");
	return "rank " + process.rank + " (pid " + process.pid + ")" +
		(process.host ? " on " + process.host : "");
}

/* Of an entry of PAGE.ranks. */
function rankLabel(rank) {
	return rank.rank !== null ? "rank " + rank.rank : processLabel(rank.process);
}

/* Orders entries of PAGE.ranks, by index: by rank, the others behind them. */
function byRank(a, b) {
	const of = (i) => PAGE.ranks[i].rank === null ? 1e9 + i : PAGE.ranks[i].rank;

	return of(a) - of(b) || a - b;
}

/* ---- Colours ---- */

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* Functions that draw a canvas anew where colours or sizes change. */
const REDRAW = [];

function redrawAll() {
	for (const one of REDRAW)
		one();
}

/* A canvas is as sharp as the screen; returns its context in CSS pixels. */
function sized(canvas, width, height) {
	const scale = window.devicePixelRatio || 1;
	const context = canvas.getContext("2d");

	canvas.width = Math.max(1, Math.round(width * scale));
	canvas.height = Math.max(1, Math.round(height * scale));
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	context.setTransform(scale, 0, 0, scale, 0, 0);
	return context;
}

/* Diagonal lines, for what is inferred. */
function hatching(context, stroke) {
	const tile = document.createElement("canvas");
	const lines = tile.getContext("2d");

	tile.width = tile.height = 6;
	lines.strokeStyle = stroke;
	lines.lineWidth = 1.5;
	lines.beginPath();
	for (const x of [-6, 0, 6]) {
		lines.moveTo(x, 6);
		lines.lineTo(x + 6, 0);
	}
	lines.stroke();
	return context.createPattern(tile, "repeat");
}

/* ---- What the pointer is over ---- */

function showTip(event, text) {
	const tip = document.getElementById("tip");

	tip.hidden = !text;
	tip.textContent = text || "";
	if (!text)
		return;
	tip.style.left = Math.max(4, Math.min(event.clientX + 14,
		document.documentElement.clientWidth - tip.offsetWidth - 8)) + "px";
	tip.style.top = Math.max(4, Math.min(event.clientY + 14,
		window.innerHeight - tip.offsetHeight - 8)) + "px";
}
