/* SPDX-License-Identifier: MIT */
/*
 * The spans on a canvas: rows below their processes, lanes where spans of a row overlap,
 * arrows for links. The canvas is as large as what is seen; a taller element behind it
 * gives the scroll bar.
 */

const GUTTER = 220, AXIS = 24, LANE = 15, PAD = 3, LANES_MAX = 8, VIEW_HEIGHT = 460;
/* Bits of a span's flags, as page_spans.c has them. */
const OPEN = 1, BEGIN_LOST = 2, END_LOST = 4, FAILED = 8, END_BOUND = 16, IS_OPERATION = 32,
	IS_SEND = 64, KNOWN_SHIFT = 7;
const HOW = ["exact", "decoded", "inferred", "unknown"];
/* More arrows than these are a blot. */
const ARROWS_SEEN = 1500;

class Timeline {
	constructor(data, duration) {
		this.data = data;
		this.whole = [0, Math.max(duration, 1)];
		this.spans = [];
		this.operations = new Map();	/* colours */
		this.lines = [];	/* what is drawn from top to bottom */
		this.selected = null;
		this.isDragged = false;
		this.layOut();
		this.arrange();
		this.build();
		this.all();
	}

	/* ---- Where things are ---- */

	layOut() {
		let process = null;

		for (const row of this.data.rows) {
			if (row.process !== process) {
				process = row.process;
				this.lines.push({title: processTitle(process), height: 20});
			}
			const line = {row, spans: [], lanes: [], height: 0};

			for (const [begin, length, name, flags, op, size, peer] of row.spans) {
				const span = {index: this.spans.length, begin, end: begin + length, name, flags,
					op, size, peer, line, out: [], into: []};
				let lane = line.lanes.findIndex((end) => end <= begin);

				if (lane < 0)
					lane = Math.min(line.lanes.length, LANES_MAX - 1);
				line.lanes[lane] = Math.max(span.end, line.lanes[lane] || 0);
				span.lane = lane;
				this.whole = [Math.min(this.whole[0], begin), Math.max(this.whole[1], span.end)];
				line.spans.push(span);
				this.spans.push(span);
			}
			line.longest = line.spans.reduce((most, span) => Math.max(most, span.end - span.begin), 0);
			line.height = Math.max(1, line.lanes.length) * LANE + 2 * PAD + (row.bins ? 5 : 0);
			line.most = row.bins ? Math.max(...row.bins) : 0;
			this.lines.push(line);
		}
		for (const [from, to, kind, how] of this.data.arrows) {
			const arrow = {from: this.spans[from], to: this.spans[to],
				kind: this.data.link_kinds[kind], how: HOW[how]};

			arrow.from.out.push(arrow);
			arrow.to.into.push(arrow);
		}
	}

	arrange() {
		let y = 0;

		for (const line of this.lines) {
			line.y = y;
			y += line.height;
		}
		this.height = y;
	}

	/*
	 * Operations have colours of their own, by name, so that a call and its kernel have one;
	 * of what else there is, each kind of row has one.
	 */
	colourOf(span) {
		if (span.flags & IS_OPERATION) {
			const name = this.data.names[span.name].replace(/^ProxyOp /, "");

			if (!this.operations.has(name))
				this.operations.set(name, this.operations.size % 6);
			return this.look.spans[this.operations.get(name)];
		}
		return span.line.row.kind === "messages" || span.line.row.kind === "requests"
			? this.look.spans[6] : this.look.spans[7];
	}

	/* ---- Words ---- */

	nameOf(span) {
		let name = this.data.names[span.name];

		if (span.flags & IS_OPERATION) {
			name += " #" + span.op;
			if (span.peer >= 0)
				name += (span.flags & IS_SEND ? " to " : " from ") + span.peer;
		}
		return span.size ? name + " " + bytes(span.size) : name;
	}

	lengthOf(span) {
		const length = span.end - span.begin;

		if (span.flags & OPEN)
			return (this.isCall(span) ? "never returned: " : "not completed: ") + duration(length) + " and more";
		if (span.flags & END_LOST)
			return "when it returned is not known";
		if (span.flags & BEGIN_LOST)
			return "when it began is not known";
		return (span.flags & END_BOUND ? "at most " : "") + duration(length);
	}

	isCall(span) {
		return span.line.row.kind === "calls" || span.line.row.kind === "ranges";
	}

	howOf(span) {
		return HOW[span.flags >> KNOWN_SHIFT & 3];
	}

	tell(span) {
		return [this.nameOf(span), this.lengthOf(span) + (span.flags & FAILED ? ", failed" : ""),
			processLabel(span.line.row.process) + ", " + span.line.row.name,
			"at " + this.at(span.begin)].join("\n");
	}

	at(ns) {
		return (ns / 1e9).toFixed(6) + " s";
	}

	/* ---- Elements ---- */

	build() {
		const button = (label, title, act) =>
			make("button", {type: "button", title, click: act}, label);

		this.canvas = make("canvas", {tabindex: 0, role: "application",
			"aria-label": "Timeline: arrow keys move, plus and minus zoom, n and p choose a span"});
		this.spacer = make("div");
		this.box = make("div", {class: "lanes", id: "timeline-box"}, this.canvas, this.spacer);
		this.status = make("span", {id: "timeline-status", "aria-live": "polite"});
		this.detail = make("div", {class: "detail", id: "timeline-detail", "aria-live": "polite"});
		this.hasArrows = make("input", {type: "checkbox", id: "timeline-arrows",
			change: () => this.redraw()});
		this.hasArrows.checked = true;
		this.controls = make("div", {class: "controls"},
			button("+", "zoom in (+)", () => this.zoom(0.5)),
			button("\u2212", "zoom out (-)", () => this.zoom(2)),
			button("all", "all of it (Home)", () => this.all()),
			button("\u25c0", "earlier (left arrow)", () => this.move(-0.5)),
			button("\u25b6", "later (right arrow)", () => this.move(0.5)),
			make("label", null, this.hasArrows, " arrows"), this.status);
		this.canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		this.canvas.addEventListener("pointerdown", (event) => this.press(event));
		this.canvas.addEventListener("pointermove", (event) => this.drag(event));
		this.canvas.addEventListener("pointerup", (event) => this.release(event));
		this.canvas.addEventListener("pointerleave", (event) => showTip(event, ""));
		this.canvas.addEventListener("dblclick", (event) => this.zoom(0.5, this.timeAt(event)));
		this.box.addEventListener("scroll", () => this.redraw());
		this.select(null);
		REDRAW.push(() => this.redraw());
	}

	element() {
		return make("div", null, this.controls, this.box,
			make("p", {class: "help"}, "Drag or use the arrow keys to move; + and \u2212, a double click, " +
				"the wheel with Ctrl, or the wheel after a click into the timeline to zoom. n and p choose " +
				"the next and the previous span, Enter shows the chosen one, Escape lets go."),
			this.detail);
	}

	/* ---- Moving ---- */

	show(from, to) {
		const length = Math.max(to - from, 10);
		const whole = this.whole[1] - this.whole[0];

		if (length >= whole) {
			[this.from, this.to] = this.whole;
		} else {
			this.from = Math.min(Math.max(from, this.whole[0]), this.whole[1] - length);
			this.to = this.from + length;
		}
		this.redraw();
	}

	all() {
		this.show(...this.whole);
	}

	zoom(factor, around) {
		const center = around === undefined ? (this.from + this.to) / 2 : around;

		this.show(center - (center - this.from) * factor, center + (this.to - center) * factor);
	}

	move(share) {
		const by = (this.to - this.from) * share;

		this.show(this.from + by, this.to + by);
	}

	wheel(event) {
		if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas &&
		    !event.shiftKey)
			return;
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.move(Math.sign(event.deltaX || event.deltaY) * 0.1);
		else
			this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.timeAt(event));
	}

	key(event) {
		const act = {
			ArrowLeft: () => this.move(-0.1), ArrowRight: () => this.move(0.1),
			ArrowUp: () => this.box.scrollBy(0, -60), ArrowDown: () => this.box.scrollBy(0, 60),
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			Home: () => this.all(), n: () => this.step(1), p: () => this.step(-1),
			Enter: () => this.selected && this.goTo(this.selected),
			Escape: () => this.select(null),
		}[event.key];

		if (!act || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		act();
	}

	/* Chooses the next span of the row, or else the first that is seen. */
	step(by) {
		const spans = this.selected ? this.selected.line.spans : null;
		const next = spans ? spans[spans.indexOf(this.selected) + by]
			: this.spans.find((span) => span.end >= this.from && span.begin <= this.to);

		if (!next)
			return;
		this.select(next);
		if (next.end < this.from || next.begin > this.to)
			this.show(next.begin - (this.to - this.from) / 2, next.begin + (this.to - this.from) / 2);
	}

	goTo(span) {
		const length = Math.max(span.end - span.begin, 1000);

		this.select(span);
		this.show(span.begin - length, span.begin + 2 * length);
		this.box.scrollTop = Math.max(0, span.line.y - VIEW_HEIGHT / 3);
	}

	/* ---- The pointer ---- */

	place(event) {
		const box = this.canvas.getBoundingClientRect();

		return [event.clientX - box.left, event.clientY - box.top];
	}

	timeAt(event) {
		const [x] = this.place(event);

		return this.from + Math.max(0, x - GUTTER) / this.plot() * (this.to - this.from);
	}

	spanAt(event) {
		const [x, y] = this.place(event);
		const top = y - AXIS + this.box.scrollTop;
		const near = 2 / this.plot() * (this.to - this.from);
		const line = x >= GUTTER && y >= AXIS
			? this.lines.find((one) => top >= one.y && top < one.y + one.height) : null;
		let best = null;

		if (!line || !line.row)
			return null;
		const lane = Math.floor((top - line.y - PAD) / LANE), time = this.timeAt(event);
		for (const span of line.spans)
			if (span.lane === lane && span.begin - near <= time && span.end + near >= time &&
			    (!best || span.end - span.begin < best.end - best.begin))
				best = span;
		return best;
	}

	press(event) {
		this.canvas.focus({preventScroll: true});
		this.pressed = {x: event.clientX, from: this.from, to: this.to};
		this.isDragged = false;
		this.canvas.setPointerCapture(event.pointerId);
	}

	drag(event) {
		if (!this.pressed) {
			const span = this.spanAt(event);

			this.canvas.style.cursor = span ? "pointer" : "default";
			showTip(event, span ? this.tell(span) : "");
			return;
		}
		const by = (this.pressed.x - event.clientX) / this.plot() * (this.pressed.to - this.pressed.from);

		this.isDragged = this.isDragged || Math.abs(event.clientX - this.pressed.x) > 3;
		if (this.isDragged)
			this.show(this.pressed.from + by, this.pressed.to + by);
	}

	release(event) {
		if (this.pressed && !this.isDragged)
			this.select(this.spanAt(event));
		this.pressed = null;
	}

	/* ---- The chosen span ---- */

	select(span) {
		this.selected = span;
		this.detail.replaceChildren();
		if (!span) {
			this.detail.append(make("p", {class: "muted"}, "Choose a span to see what is known of it."));
		} else {
			const facts = [["when", this.at(span.begin) + " since the first event"],
				["how long", this.lengthOf(span)],
				["where", processTitle(span.line.row.process) + ", " + span.line.row.name],
				["result", span.flags & FAILED ? make("span", {class: "bad"}, "failed") : null],
				["known", known(this.howOf(span))]];

			this.detail.append(make("strong", {class: "text"}, this.nameOf(span)),
				make("dl", null, facts.filter((one) => one[1]).map(([name, value]) =>
					[make("dt", null, name), make("dd", null, value)])),
				this.linksOf(span));
		}
		if (this.from !== undefined)
			this.redraw();
	}

	linksOf(span) {
		const line = (arrow, other, words) => make("li", null, words, " ",
			make("button", {type: "button", click: () => this.goTo(other)}, this.nameOf(other)),
			" " + processLabel(other.line.row.process) + " (" + arrow.kind + ") ", known(arrow.how));
		const all = [...span.into.map((arrow) => line(arrow, arrow.from, "from")),
			...span.out.map((arrow) => line(arrow, arrow.to, "to"))];

		return all.length ? make("ul", null, all.slice(0, 20),
			all.length > 20 ? make("li", null, "and " + (all.length - 20) + " more") : null) : null;
	}

	/* ---- Drawing ---- */

	plot() {
		return Math.max(50, this.width - GUTTER);
	}

	x(ns) {
		return GUTTER + (ns - this.from) / (this.to - this.from) * this.plot();
	}

	redraw() {
		this.width = Math.max(300, this.box.clientWidth || 900);
		const view = Math.min(VIEW_HEIGHT, this.height + AXIS);
		const context = sized(this.canvas, this.width, view);
		const top = this.box.scrollTop;

		this.spacer.style.height = Math.max(0, this.height + AXIS - view) + "px";
		this.look = {
			text: colour("text"), muted: colour("muted"), line: colour("line"), panel: colour("panel"),
			page: colour("page"), bad: colour("bad"), link: colour("link"), arrow: colour("arrow"),
			on: colour("on-span"), mark: colour("mark"),
			spans: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => colour("s" + i)),
		};
		this.look.hatch = hatching(context, this.look.page);
		this.drawn = 0;
		context.fillStyle = this.look.page;
		context.fillRect(0, 0, this.width, view);
		context.textBaseline = "middle";
		context.save();
		context.beginPath();
		context.rect(0, AXIS, this.width, view - AXIS);
		context.clip();
		context.translate(0, AXIS - top);
		for (const line of this.lines)
			if (line.y + line.height >= top && line.y <= top + view)
				this.drawLine(context, line);
		if (this.hasArrows.checked)
			this.drawArrows(context, top, view);
		context.restore();
		this.drawAxis(context, view);
		this.say();
	}

	drawLine(context, line) {
		context.font = line.row ? "11px system-ui, sans-serif" : "bold 12px system-ui, sans-serif";
		context.textAlign = "left";
		if (!line.row) {
			context.fillStyle = this.look.panel;
			context.fillRect(0, line.y, this.width, line.height);
			context.fillStyle = this.look.text;
			context.fillText(line.title, 6, line.y + line.height / 2, GUTTER * 2);
			return;
		}
		context.strokeStyle = this.look.line;
		context.lineWidth = 0.5;
		context.beginPath();
		context.moveTo(0, line.y + line.height);
		context.lineTo(this.width, line.y + line.height);
		context.stroke();
		context.fillStyle = this.look.muted;
		this.writeCut(context, line.row.name, 14, line.y + PAD + LANE / 2, GUTTER - 20);
		context.save();
		context.beginPath();
		context.rect(GUTTER, line.y, this.width - GUTTER, line.height);
		context.clip();
		if (line.row.bins)
			this.drawCounts(context, line);
		this.drawSpans(context, line);
		context.restore();
	}

	/* How many spans begin in each period, of a row that has not all of them. */
	drawCounts(context, line) {
		const {bins, bin_ns} = line.row;

		context.fillStyle = this.look.muted;
		bins.forEach((count, i) => {
			const x = this.x(i * bin_ns), end = this.x((i + 1) * bin_ns);

			if (!count || end < GUTTER || x > this.width)
				return;
			context.globalAlpha = 0.15 + 0.7 * Math.log(1 + count) / Math.log(1 + line.most);
			context.fillRect(x, line.y + line.height - 5, Math.max(1, end - x), 4);
		});
		context.globalAlpha = 1;
	}

	/* The first span that may be seen: spans are in order of their beginnings. */
	firstSeen(line) {
		let low = 0, high = line.spans.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (line.spans[middle].begin < this.from - line.longest)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	drawSpans(context, line) {
		const drawnTo = [];

		for (let i = this.firstSeen(line); i < line.spans.length; i++) {
			const span = line.spans[i];

			if (span.begin > this.to)
				break;
			if (span.end < this.from)
				continue;
			this.drawn++;
			const x = Math.max(this.x(span.begin), GUTTER - 2);
			const end = Math.min(Math.max(this.x(span.end), x + 1), this.width + 2);

			/* One pixel is drawn once. */
			if (end <= drawnTo[span.lane] && span !== this.selected && !(span.flags & FAILED))
				continue;
			drawnTo[span.lane] = Math.max(end, drawnTo[span.lane] || 0);
			this.drawSpan(context, span, x, line.y + PAD + span.lane * LANE, end - x);
		}
	}

	drawSpan(context, span, x, y, width) {
		const high = LANE - 2;
		const how = this.howOf(span);

		context.fillStyle = this.colourOf(span);
		context.fillRect(x, y, width, high);
		if (how === "inferred" || how === "unknown") {
			context.fillStyle = this.look.hatch;
			context.fillRect(x, y, width, high);
		}
		/* What never returned has no right end. */
		if (span.flags & (OPEN | FAILED)) {
			context.strokeStyle = this.look.bad;
			context.lineWidth = 2;
			context.beginPath();
			context.moveTo(x + width, y + 1);
			context.lineTo(x + 1, y + 1);
			context.lineTo(x + 1, y + high - 1);
			context.lineTo(x + width, y + high - 1);
			if (!(span.flags & OPEN))
				context.closePath();
			context.stroke();
		}
		if (width > 30) {
			context.font = "10px system-ui, sans-serif";
			context.fillStyle = this.look.on;
			this.writeCut(context, this.nameOf(span), Math.max(x, GUTTER) + 4, y + high / 2 + 0.5,
				Math.min(width, this.width - x) - 8);
		}
		if (span === this.selected) {
			context.strokeStyle = this.look.text;
			context.lineWidth = 2;
			context.strokeRect(x + 0.5, y - 0.5, width, high + 1);
		}
	}

	writeCut(context, text, x, y, width) {
		let cut = text;

		if (width < 12)
			return;
		while (cut.length > 1 && context.measureText(cut + (cut === text ? "" : "\u2026")).width > width)
			cut = cut.slice(0, Math.max(1, Math.floor(cut.length * 0.85)));
		context.fillText(cut === text ? cut : cut + "\u2026", x, y);
	}

	isSeen(span, top, view) {
		return span.end >= this.from && span.begin <= this.to &&
			span.line.y + span.line.height >= top && span.line.y <= top + view;
	}

	/* A receive is posted before its message is sent: its arrow ends where it ends. */
	drawArrows(context, top, view) {
		const seen = [];

		for (const span of this.spans)
			for (const arrow of span.out)
				if (this.isSeen(arrow.from, top, view) && this.isSeen(arrow.to, top, view))
					seen.push(arrow);
		const isOfSelected = (arrow) => arrow.from === this.selected || arrow.to === this.selected;

		this.arrows = seen.length;
		for (const arrow of seen.length > ARROWS_SEEN ? seen.filter(isOfSelected) : seen) {
			const from = this.x(arrow.from.begin);
			const to = this.x(arrow.to.begin >= arrow.from.begin ? arrow.to.begin : arrow.to.end);

			if (Math.abs(to - from) < 1 && arrow.from.line === arrow.to.line)
				continue;
			this.drawArrow(context, arrow, from, to, isOfSelected(arrow));
		}
	}

	drawArrow(context, arrow, from, to, isStrong) {
		const y1 = arrow.from.line.y + PAD + arrow.from.lane * LANE + LANE / 2;
		const y2 = arrow.to.line.y + PAD + arrow.to.lane * LANE + LANE / 2;
		const bend = Math.min(40, 10 + Math.abs(to - from) / 3);

		context.save();
		context.beginPath();
		context.rect(GUTTER, 0, this.width - GUTTER, this.height);
		context.clip();
		context.globalAlpha = isStrong ? 1 : 0.45;
		context.strokeStyle = context.fillStyle = isStrong ? this.look.link : this.look.arrow;
		context.lineWidth = isStrong ? 2 : 1;
		context.setLineDash(arrow.how === "exact" ? [] : arrow.how === "decoded" ? [7, 2] : [2, 3]);
		context.beginPath();
		context.moveTo(from, y1);
		context.bezierCurveTo(from + bend, y1, to - bend, y2, to, y2);
		context.stroke();
		context.setLineDash([]);
		context.beginPath();
		context.moveTo(to, y2);
		context.lineTo(to - 6, y2 - 3);
		context.lineTo(to - 6, y2 + 3);
		context.fill();
		context.restore();
	}

	/* A step of 1, 2 or 5 of which there is one in about 110 pixels. */
	stepOf() {
		const wanted = (this.to - this.from) / (this.plot() / 110);
		const power = 10 ** Math.floor(Math.log10(wanted));

		return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted);
	}

	drawAxis(context, view) {
		const step = this.stepOf();

		context.fillStyle = this.look.panel;
		context.fillRect(0, 0, this.width, AXIS);
		context.font = "11px system-ui, sans-serif";
		context.textAlign = "center";
		for (let ns = Math.ceil(this.from / step) * step; ns <= this.to; ns += step) {
			const x = this.x(ns);

			context.fillStyle = this.look.muted;
			context.fillText(this.axisLabel(ns, step),
				Math.min(Math.max(x, GUTTER + 24), this.width - 28), AXIS / 2);
			context.globalAlpha = 0.35;
			context.fillRect(x, AXIS - 4, 1, view);
			context.globalAlpha = 1;
		}
		PAGE.findings.forEach((finding, i) => {
			const x = finding.time === null ? -1 : this.x(finding.time);

			if (x < GUTTER || x > this.width || finding.word === "OK" || finding.word === "NOTE")
				return;
			context.fillStyle = this.look.mark;
			context.fillRect(x - 0.5, AXIS, 1, view);
			/* In the row of a rank's name: above it, it would hide the time. */
			context.beginPath();
			context.arc(x, AXIS + 8, 7, 0, 7);
			context.fill();
			context.fillStyle = this.look.page;
			context.font = "bold 10px system-ui, sans-serif";
			context.fillText(String(i + 1), x, AXIS + 8.5);
		});
		context.fillStyle = this.look.panel;
		context.fillRect(0, 0, GUTTER - 1, AXIS);
		context.fillStyle = this.look.line;
		context.fillRect(GUTTER - 1, 0, 1, view);
	}

	axisLabel(ns, step) {
		const unit = TIME_UNITS.slice().reverse().find(([size]) => this.to >= size * 2 && step >= size / 1000) ||
			TIME_UNITS[0];
		const places = Math.max(0, Math.ceil(-Math.log10(step / unit[0]) - 1e-9));

		return (ns / unit[0]).toFixed(Math.min(places, 9)) + " " + unit[1];
	}

	say() {
		this.status.textContent = this.at(this.from) + " to " + this.at(this.to) + ": " +
			counted(this.drawn, "span") +
			(this.hasArrows.checked && this.arrows > ARROWS_SEEN
				? "; " + counted(this.arrows, "arrow") + " are too many: zoom in, or choose a span" : "");
	}
}
