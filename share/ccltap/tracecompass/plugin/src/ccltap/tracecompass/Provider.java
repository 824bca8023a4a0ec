// SPDX-License-Identifier: MIT
package ccltap.tracecompass;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.eclipse.tracecompass.analysis.os.linux.core.model.HostThread;
import org.eclipse.tracecompass.analysis.profiling.core.instrumented.EdgeStateValue;
import org.eclipse.tracecompass.analysis.profiling.core.instrumented.InstrumentedCallStackAnalysis;
import org.eclipse.tracecompass.statesystem.core.ITmfStateSystemBuilder;
import org.eclipse.tracecompass.tmf.core.event.ITmfEvent;
import org.eclipse.tracecompass.tmf.core.statesystem.AbstractTmfStateProvider;
import org.eclipse.tracecompass.tmf.core.statesystem.ITmfStateProvider;
import org.eclipse.tracecompass.tmf.core.trace.ITmfTrace;

/**
 * Makes rows and edges of the events of ccltap-trace(5).
 *
 * Trace Compass finds the ends of an edge by the numbers of two threads, so each row gets a
 * number of its own. Edges are known last: the spans that have links are kept until then.
 */
class Provider extends AbstractTmfStateProvider {
    private static final String ID = "ccltap.arrows";
    /** Raise it with every change: Trace Compass keeps what it has computed. */
    private static final int VERSION = 1;

    /** Where a span is, and when. */
    private static class Bar {
        final int row;
        final long begin;
        long end;

        Bar(int row, long begin) {
            this.row = row;
            this.begin = begin;
            this.end = begin;
        }
    }

    private record Edge(long begin, long end, int from, int to, int number) {
    }

    private static class Link {
        final String kind;
        final Map<Long, String> parts = new TreeMap<>();

        Link(String kind) {
            this.kind = kind;
        }
    }

    private final Map<String, Integer> rows = new HashMap<>();
    private final Map<String, Bar> bars = new HashMap<>();
    private final Map<Long, Link> links = new TreeMap<>();

    Provider(ITmfTrace trace) {
        super(trace, ID);
    }

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public ITmfStateProvider getNewInstance() {
        return new Provider(getTrace());
    }

    private static String text(ITmfEvent event, String field) {
        return String.valueOf(event.getContent().getFieldValue(String.class, field));
    }

    private static long number(ITmfEvent event, String field) {
        Number value = event.getContent().getFieldValue(Number.class, field);

        return value == null ? 0 : value.longValue();
    }

    /** What identifies a span in its trace. */
    private static String span(ITmfEvent event) {
        String work = text(event, "work");

        return work.equals("-") ? number(event, "process") + "." + number(event, "call_id") : work;
    }

    @Override
    protected void eventHandle(ITmfEvent event) {
        switch (event.getName()) {
        case "ccltap:begin", "ccltap:wire_begin" -> begin(event);
        case "ccltap:end", "ccltap:wire_end" -> end(event);
        case "ccltap:link" -> links
            .computeIfAbsent(number(event, "link"), key -> new Link(text(event, "kind")))
            .parts.put(number(event, "part"), span(event));
        default -> { }
        }
    }

    private int stack(ITmfEvent event, boolean isNew) {
        ITmfStateSystemBuilder states = Objects.requireNonNull(getStateSystemBuilder());
        int process = states.getQuarkAbsoluteAndAdd("Processes", text(event, "who"));
        String name = text(event, "row") + ", " + text(event, "lane");
        int row = states.getQuarkRelativeAndAdd(process, name);

        if (isNew) {
            states.updateOngoingState((Object) (int) number(event, "process"), process);
            states.updateOngoingState((Object) (long) rowNumber(event), row);
        }
        return states.getQuarkRelativeAndAdd(row, InstrumentedCallStackAnalysis.CALL_STACK);
    }

    private int rowNumber(ITmfEvent event) {
        String name = number(event, "process") + "/" + text(event, "row") + "/" + text(event, "lane");

        return rows.computeIfAbsent(name, key -> rows.size() + 1);
    }

    private void begin(ITmfEvent event) {
        long now = event.getTimestamp().toNanos();

        Objects.requireNonNull(getStateSystemBuilder())
            .pushAttribute(now, text(event, "label"), stack(event, true));
        bars.put(span(event), new Bar(rowNumber(event), now));
    }

    private void end(ITmfEvent event) {
        long now = event.getTimestamp().toNanos();
        Bar bar = bars.get(span(event));

        if (text(event, "state").equals("begin-lost")) {
            return;
        }
        Objects.requireNonNull(getStateSystemBuilder()).popAttribute(now, stack(event, false));
        if (bar != null) {
            bar.end = now;
        }
    }

    /** From the begin of the cause to the begin, or to the end, of its effect. */
    private void addEdge(List<Edge> edges, String cause, String effect, boolean toEnd, long number) {
        Bar from = cause == null ? null : bars.get(cause);
        Bar to = effect == null ? null : bars.get(effect);

        if (from == null || to == null) {
            return;
        }
        long end = toEnd ? to.end - 1 : to.begin;
        edges.add(new Edge(from.begin, Math.max(end, from.begin + 1), from.row, to.row, (int) number));
    }

    private List<Edge> edges() {
        List<Edge> edges = new ArrayList<>();

        links.forEach((number, link) -> {
            Map<Long, String> parts = link.parts;

            switch (link.kind) {
            case "api-launch", "launch-kernel" ->
                addEdge(edges, parts.get(1L), parts.get(2L), false, number);
            case "socket-message", "send-receive" ->
                addEdge(edges, parts.get(1L), parts.get(2L), true, number);
            case "cts-message" -> addEdge(edges, parts.get(2L), parts.get(3L), true, number);
            case "message-kernel" ->
                addEdge(edges, parts.get(1L), parts.get(2L), false, number);
            default -> { }
            }
        });
        edges.sort(Comparator.comparingLong(Edge::begin));
        return edges;
    }

    /** An attribute holds one edge at a time: edges that overlap get several. */
    @Override
    public void done() {
        ITmfStateSystemBuilder states = Objects.requireNonNull(getStateSystemBuilder());
        String host = getTrace().getHostId();
        List<Long> free = new ArrayList<>();

        for (Edge edge : edges()) {
            int lane = 0;

            while (lane < free.size() && free.get(lane) > edge.begin) {
                lane++;
            }
            if (lane == free.size()) {
                free.add(0L);
            }
            free.set(lane, edge.end + 1);
            int quark = states.getQuarkAbsoluteAndAdd(Arrows.EDGES, Integer.toString(lane));
            states.modifyAttribute(edge.begin, new EdgeStateValue(edge.number,
                new HostThread(host, edge.from), new HostThread(host, edge.to)), quark);
            states.modifyAttribute(edge.end + 1, (Object) null, quark);
        }
        super.done();
    }
}
