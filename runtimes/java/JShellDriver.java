// One Java context: takes cells from descriptor 3, has JShell evaluate them, and answers on descriptor 4.
// A request is a line of words in base64: the code, then names and values of variables; an answer is JSON in a line.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.UnresolvedReferenceException;
import jdk.jshell.VarSnippet;
import sun.misc.Signal;

public final class JShellDriver {
    // What the jshell tool itself imports at its start.
    private static final List<String> IMPORTS = List.of(
            "java.io.*", "java.math.*", "java.net.*", "java.nio.file.*", "java.util.*", "java.util.concurrent.*",
            "java.util.function.*", "java.util.prefs.*", "java.util.regex.*", "java.util.stream.*");

    private final OutputStream answers = new FileOutputStream("/proc/self/fd/4");
    private final JShell shell;
    private volatile boolean interrupted;
    private volatile boolean running;

    private JShellDriver() throws IOException {
        // In this very virtual machine: a second one would double the time and the memory.
        shell = JShell.builder().executionEngine("local").out(System.out).err(System.err).build();
        for (String name : IMPORTS) {
            shell.eval("import " + name + ";");
        }
        Signal.handle(new Signal("INT"), signal -> interrupt());
    }

    public static void main(String[] arguments) throws IOException {
        // Variables are also properties: a running program can change those, and not its environment.
        System.getenv().forEach((name, value) -> System.getProperties().putIfAbsent(name, value));
        new JShellDriver().serve();
    }

    // Again and again until the cell has ended: an interrupt may come while the next snippet is still being compiled,
    // and finds nothing to stop then.
    private void interrupt() {
        interrupted = running;
        while (running && interrupted) {
            shell.stop();
            try {
                Thread.sleep(20);
            } catch (InterruptedException stopped) {
                return;
            }
        }
    }

    private void serve() throws IOException {
        answer("\"op\":\"ready\",\"version\":" + quote(System.getProperty("java.version")));
        var requests = new BufferedReader(
                new InputStreamReader(new FileInputStream("/proc/self/fd/3"), StandardCharsets.US_ASCII));
        for (String line; (line = requests.readLine()) != null;) {
            var words = new ArrayList<String>();
            for (String word : line.split(" ")) {
                words.add(word.equals("=") ? "" : new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8));
            }
            execute(words.get(0), words.subList(1, words.size()));
        }
        // Not in the run that makes the archive of classes, which is written on an orderly way out.
        if (System.getProperty("sandgate.archive") == null) {
            Runtime.getRuntime().halt(0);
        }
        System.exit(0);
    }

    private void execute(String code, List<String> variables) throws IOException {
        var before = new HashMap<String, String>();
        for (int i = 0; i + 1 < variables.size(); i += 2) {
            before.put(variables.get(i), System.getProperty(variables.get(i)));
            System.setProperty(variables.get(i), variables.get(i + 1));
        }
        interrupted = false;
        running = true;
        boolean fine = false;
        try {
            fine = evaluate(code);
        } catch (RuntimeException problem) {
            error(problem.getClass().getSimpleName(), String.valueOf(problem.getMessage()), List.of(problem.toString()));
        } finally {
            running = false;
            restore(before);
        }
        System.out.flush();
        System.err.flush();
        answer("\"op\":\"done\",\"status\":" + (fine ? "\"ok\"" : "\"error\""));
    }

    private static void restore(Map<String, String> before) {
        before.forEach((name, value) -> {
            if (value == null) {
                System.clearProperty(name);
            } else {
                System.setProperty(name, value);
            }
        });
    }

    // Snippet by snippet, as somebody who types would; the value of the last one is the cell's.
    private boolean evaluate(String code) throws IOException {
        SourceCodeAnalysis analysis = shell.sourceCodeAnalysis();
        String rest = code;
        String value = null;
        while (!rest.isBlank()) {
            var next = analysis.analyzeCompletion(rest);
            String source = next.source();
            if (source == null || !next.completeness().isComplete()) {
                // Let the compiler say what is missing.
                source = rest;
                rest = "";
            } else {
                rest = next.remaining();
            }
            value = null;
            for (SnippetEvent event : shell.eval(source)) {
                if (event.causeSnippet() != null) {
                    continue; // an older snippet that this one changed
                }
                if (!accept(event)) {
                    return false;
                }
                value = shown(event);
            }
            if (interrupted) {
                error("KeyboardInterrupt", "the execution was interrupted", List.of("KeyboardInterrupt"));
                return false;
            }
        }
        if (value != null) {
            System.out.flush();
            answer("\"op\":\"result\",\"data\":{\"text/plain\":" + quote(value) + "}");
        }
        return true;
    }

    // Declarations have values too, which nobody asked to see.
    private static String shown(SnippetEvent event) {
        Snippet snippet = event.snippet();
        boolean asked = snippet.kind() == Snippet.Kind.EXPRESSION
                || (snippet instanceof VarSnippet && snippet.subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND);
        boolean assigns = snippet.subKind() == Snippet.SubKind.ASSIGNMENT_SUBKIND;
        return asked && !assigns ? event.value() : null;
    }

    private boolean accept(SnippetEvent event) throws IOException {
        Snippet snippet = event.snippet();
        if (event.status() == Snippet.Status.REJECTED) {
            var diagnostics = shell.diagnostics(snippet).filter(Diag::isError).collect(Collectors.toList());
            String message = diagnostics.isEmpty() ? "rejected" : diagnostics.get(0).getMessage(Locale.ENGLISH);
            error("CompilationError", message, explain(snippet.source(), diagnostics));
            return false;
        }
        JShellException problem = event.exception();
        if (problem == null) {
            return true;
        }
        if (problem instanceof EvalException raised) {
            var lines = new ArrayList<String>();
            String message = raised.getMessage();
            lines.add(raised.getExceptionClassName() + (message == null ? "" : ": " + message));
            for (StackTraceElement frame : raised.getStackTrace()) {
                lines.add("    at " + frame.getMethodName() + " (" + frame.getFileName() + ":" + frame.getLineNumber() + ")");
            }
            // The name that clients know from Jupyter's kernel of Java; which class it was is in the value.
            error("EvalException", lines.get(0), lines);
        } else if (problem instanceof UnresolvedReferenceException unresolved) {
            String missing = shell.unresolvedDependencies(unresolved.getSnippet()).collect(Collectors.joining(", "));
            error("UnresolvedReference", "not declared yet: " + missing, List.of("not declared yet: " + missing));
        } else {
            error(problem.getClass().getSimpleName(), String.valueOf(problem.getMessage()), List.of(problem.toString()));
        }
        return false;
    }

    // Each message with the line it is about and a mark below, as the compiler itself shows them.
    private static List<String> explain(String source, List<Diag> diagnostics) {
        var lines = new ArrayList<String>();
        for (Diag diagnostic : diagnostics) {
            lines.addAll(diagnostic.getMessage(Locale.ENGLISH).lines().collect(Collectors.toList()));
            int at = (int) Math.min(Math.max(diagnostic.getStartPosition(), 0), source.length());
            int start = source.lastIndexOf('\n', Math.max(at - 1, 0)) + 1;
            int end = source.indexOf('\n', at);
            lines.add(source.substring(Math.min(start, at), end < 0 ? source.length() : end));
            lines.add(" ".repeat(at - Math.min(start, at)) + "^");
        }
        return lines;
    }

    private void error(String name, String value, List<String> traceback) throws IOException {
        System.out.flush();
        String lines = traceback.stream().map(JShellDriver::quote).collect(Collectors.joining(",", "[", "]"));
        answer("\"op\":\"error\",\"name\":" + quote(name) + ",\"value\":" + quote(value) + ",\"traceback\":" + lines);
    }

    private void answer(String fields) throws IOException {
        answers.write(("{" + fields + "}\n").getBytes(StandardCharsets.UTF_8));
        answers.flush();
    }

    private static String quote(String text) {
        var quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
