// SPDX-License-Identifier: MIT
package ccltap.tracecompass;

import java.util.Collection;
import java.util.List;
import java.util.Objects;

import org.eclipse.tracecompass.analysis.profiling.core.instrumented.InstrumentedCallStackAnalysis;
import org.eclipse.tracecompass.statesystem.core.ITmfStateSystem;
import org.eclipse.tracecompass.tmf.core.statesystem.ITmfStateProvider;

/**
 * A flame chart of the ranks with an arrow for each link: from call to launch to kernel, and
 * from a message sent to the same message received.
 *
 * Views that are made by XML have no arrows; this one has them since its state system
 * has values for edges, which the flame chart of Trace Compass draws.
 */
public class Arrows extends InstrumentedCallStackAnalysis {
    static final String EDGES = "Edges";

    @Override
    protected ITmfStateProvider createStateProvider() {
        return new Provider(Objects.requireNonNull(getTrace()));
    }

    @Override
    protected Collection<Integer> getEdgeQuarks() {
        ITmfStateSystem states = getStateSystem();
        int edges = states == null ? ITmfStateSystem.INVALID_ATTRIBUTE
                                   : states.optQuarkAbsolute(EDGES);

        return edges < 0 ? List.of() : states.getSubAttributes(edges, false);
    }
}
