// SPDX-License-Identifier: MIT
package ccltap.shots;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.eclipse.core.resources.IProject;
import org.eclipse.core.runtime.NullProgressMonitor;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Image;
import org.eclipse.swt.graphics.ImageLoader;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeItem;
import org.eclipse.tracecompass.internal.tmf.analysis.xml.core.module.XmlUtils;
import org.eclipse.tracecompass.tmf.core.analysis.IAnalysisModule;
import org.eclipse.tracecompass.tmf.core.analysis.IAnalysisOutput;
import org.eclipse.tracecompass.tmf.core.signal.TmfSignalManager;
import org.eclipse.tracecompass.tmf.core.signal.TmfWindowRangeUpdatedSignal;
import org.eclipse.tracecompass.tmf.core.timestamp.TmfTimeRange;
import org.eclipse.tracecompass.tmf.core.timestamp.TmfTimestamp;
import org.eclipse.tracecompass.tmf.core.trace.ITmfTrace;
import org.eclipse.tracecompass.tmf.core.trace.TmfTraceManager;
import org.eclipse.tracecompass.tmf.ui.project.model.TmfOpenTraceHelper;
import org.eclipse.tracecompass.tmf.ui.project.model.TmfProjectElement;
import org.eclipse.tracecompass.tmf.ui.project.model.TmfProjectRegistry;
import org.eclipse.ui.IStartup;
import org.eclipse.ui.IViewReference;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PlatformUI;

/**
 * Does in Trace Compass what doc/trace-compass.md says, opens each view of ccltap's analyses,
 * and takes a picture of the window: the properties ccltap.xml, .trace, .pictures, .begin and
 * .end (ns since the epoch) say of what.
 */
public class Shots implements IStartup {
    private static final String UST = "org.eclipse.linuxtools.lttng2.ust.tracetype";
    private static final long LOADING_MS = 60000;
    private static final long DRAWING_MS = Long.getLong("ccltap.drawing.ms", 6000);

    private int failures;

    @Override
    public void earlyStartup() {
        new Thread(this::run, "shots").start();
    }

    private static void say(String what) {
        System.out.println("shots: " + what);
    }

    private interface Action {
        void run() throws Exception;
    }

    private void inWindow(String what, Action action) {
        Display.getDefault().syncExec(() -> {
            try {
                action.run();
            } catch (Exception | LinkageError e) {
                failures++;
                say("FAILED " + what + ": " + e);
                e.printStackTrace();
            }
        });
    }

    private void run() {
        try {
            Thread.sleep(3000);
            shoot();
        } catch (Exception e) {
            failures++;
            e.printStackTrace();
        }
        say(failures + " failures");
        Runtime.getRuntime().halt(failures == 0 ? 0 : 1);
    }

    private static IWorkbenchPage page() {
        IWorkbenchWindow[] windows = PlatformUI.getWorkbench().getWorkbenchWindows();

        return windows[0].getActivePage();
    }

    private void shoot() throws Exception {
        for (String xml : System.getProperty("ccltap.xml").split(File.pathSeparator)) {
            File file = new File(xml);

            say(xml + ": " + XmlUtils.xmlValidate(file).getMessage() + ", "
                + XmlUtils.addXmlFile(file).getMessage());
        }
        XmlUtils.initOutputElements();
        inWindow("tidy", () -> {
            for (IViewReference view : page().getViewReferences()) {
                page().hideView(view);
            }
            PlatformUI.getWorkbench().getWorkbenchWindows()[0].getShell().setMaximized(true);
        });
        inWindow("open", this::open);
        ITmfTrace trace = null;
        for (long end = System.currentTimeMillis() + LOADING_MS;
             trace == null && System.currentTimeMillis() < end; Thread.sleep(500)) {
            trace = TmfTraceManager.getInstance().getActiveTrace();
        }
        Thread.sleep(3000);
        if (trace == null) {
            throw new IllegalStateException("the trace does not open");
        }
        say(trace.getName() + " is a " + trace.getClass().getSimpleName());
        shoot(trace);
    }

    private void open() throws Exception {
        IProject project = TmfProjectRegistry.createProject("ccltap", null, new NullProgressMonitor());
        TmfProjectElement element = TmfProjectRegistry.getProject(project, true);
        Shell shell = PlatformUI.getWorkbench().getWorkbenchWindows()[0].getShell();

        say("open: " + TmfOpenTraceHelper.openTraceFromPath(element.getTracesFolder(),
            System.getProperty("ccltap.trace"), shell, UST).getMessage());
    }

    private void shoot(ITmfTrace trace) throws Exception {
        Map<String, IAnalysisModule> modules = new TreeMap<>();

        for (IAnalysisModule module : trace.getAnalysisModules()) {
            if (module.getId().startsWith("ccltap")) {
                modules.put(module.getId(), module);
            }
        }
        say("analyses: " + modules.keySet());
        for (IAnalysisModule module : modules.values()) {
            long begin = System.currentTimeMillis();

            module.schedule();
            boolean isDone = module.waitForCompletion();
            say(module.getId() + (isDone ? " done" : " NOT DONE") + " in "
                + (System.currentTimeMillis() - begin) + " ms");
            List<IAnalysisOutput> outputs = new ArrayList<>();
            module.getOutputs().forEach(outputs::add);
            for (IAnalysisOutput output : outputs) {
                shoot(module, output);
            }
        }
        say("events: " + trace.getNbEvents());
    }

    private void shoot(IAnalysisModule module, IAnalysisOutput output) throws Exception {
        String name = (module.getId() + " " + output.getName()).replaceAll("[^A-Za-z0-9.]+", "-");

        inWindow(name, () -> {
            for (IViewReference view : page().getViewReferences()) {
                page().hideView(view);
            }
            output.requestOutput();
        });
        Thread.sleep(1500);
        inWindow(name, () -> {
            for (IViewReference view : page().getViewReferences()) {
                if (!page().isPageZoomed()) {
                    page().activate(view.getView(true));
                    page().toggleZoom(view);
                }
            }
        });
        Thread.sleep(1500);
        inWindow(name, () -> tick(PlatformUI.getWorkbench().getWorkbenchWindows()[0].getShell()));
        if (System.getProperty("ccltap.begin") != null) {
            TmfTimeRange range = new TmfTimeRange(
                TmfTimestamp.fromNanos(Long.getLong("ccltap.begin")),
                TmfTimestamp.fromNanos(Long.getLong("ccltap.end")));

            TmfSignalManager.dispatchSignal(new TmfWindowRangeUpdatedSignal(this, range));
        }
        Thread.sleep(DRAWING_MS);
        inWindow(name, () -> {
            for (IViewReference view : page().getViewReferences()) {
                say("view " + view.getId() + " \"" + view.getPartName() + "\"");
            }
            picture(name);
        });
    }

    /** Ticks the boxes of lists of lines, and says how many there are. */
    private static void tick(Composite in) {
        for (Control control : in.getChildren()) {
            if (control instanceof Tree tree) {
                int count = 0;

                for (TreeItem item : tree.getItems()) {
                    count += tick(tree, item);
                }
                if (tree.isVisible()) {
                    say("lines: " + count);
                }
            } else if (control instanceof Composite composite) {
                tick(composite);
            }
        }
    }

    private static int tick(Tree tree, TreeItem item) {
        int count = 1;

        if ((tree.getStyle() & SWT.CHECK) != 0 && !item.getChecked()) {
            item.setChecked(true);
            org.eclipse.swt.widgets.Event event = new org.eclipse.swt.widgets.Event();
            event.item = item;
            event.detail = SWT.CHECK;
            tree.notifyListeners(SWT.Selection, event);
        }
        for (TreeItem child : item.getItems()) {
            count += tick(tree, child);
        }
        return count;
    }

    private static void picture(String name) {
        Display display = Display.getDefault();
        Rectangle size = display.getBounds();
        Image image = new Image(display, size.width, size.height);
        GC gc = new GC(display);
        ImageLoader loader = new ImageLoader();
        String file = System.getProperty("ccltap.pictures") + File.separator + name + ".png";

        gc.copyArea(image, 0, 0);
        gc.dispose();
        loader.data = new ImageData[] { image.getImageData() };
        loader.save(file, SWT.IMAGE_PNG);
        image.dispose();
        say(file);
    }
}
