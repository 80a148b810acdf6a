import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.jena.query.Query;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.query.QueryExecutionFactory;
import org.apache.jena.query.QueryFactory;
import org.apache.jena.query.ResultSetFormatter;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFDataMgr;
import org.apache.jena.sparql.core.DatasetDescription;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DatasetGraphFactory;
import org.apache.jena.sparql.core.DynamicDatasets;
import org.apache.jena.sparql.core.GraphView;
import org.apache.jena.update.UpdateAction;
import org.apache.jena.system.Txn;

/**
 * A SPARQL server over Jena's own engine and transactional store, which are those of Fuseki.
 *
 * Arguments: files of N-Quads. Prints the port. With -Dunion=true the union of the named graphs is
 * the default graph that is asked, as a dataset of Fuseki can be set up. Each dataset is the one there is, at any path:
 * .../query answers SELECT, ASK (JSON) and CONSTRUCT (N-Triples), .../update updates, and GET of
 * .../data gives all as N-Quads. As of Fuseki, an answer has no header Server but Fuseki-Request-Id.
 */
public final class JenaServer {
    private final AtomicLong number = new AtomicLong();
    private final DatasetGraph data = DatasetGraphFactory.createTxnMem();

    public static void main(String[] files) throws IOException {
        JenaServer own = new JenaServer();
        Txn.executeWrite(own.data, () -> {
            for (String file : files) RDFDataMgr.read(own.data, file, Lang.NQUADS);
        });
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", own::handle);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
        System.out.println(server.getAddress().getPort());
    }

    private void handle(HttpExchange call) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int status = 200;
        String type = "text/plain";
        try {
            String path = call.getRequestURI().getPath();
            if (path.endsWith("/data")) {
                type = "application/n-quads";
                Txn.executeRead(data, () -> RDFDataMgr.write(out, data, Lang.NQUADS));
            } else if (path.endsWith("/update")) {
                String text = sent(call, "update");
                Txn.executeWrite(data, () -> UpdateAction.parseExecute(text, data));
                status = 204;
            } else {
                type = Txn.calculateRead(data, () -> answer(call, out));
            }
        } catch (RuntimeException error) {
            status = 400;
            type = "text/plain";
            out.reset();
            out.writeBytes(String.valueOf(error.getMessage()).getBytes(StandardCharsets.UTF_8));
        }
        call.getResponseHeaders().set("Fuseki-Request-Id", String.valueOf(number.incrementAndGet()));
        call.getResponseHeaders().set("Content-Type", type);
        call.sendResponseHeaders(status, status == 204 ? -1 : out.size());
        if (status != 204) call.getResponseBody().write(out.toByteArray());
        call.close();
    }

    private String answer(HttpExchange call, ByteArrayOutputStream out) {
        Map<String, List<String>> said = parameters(call, "query");
        Query query = QueryFactory.create(said.get("query").get(0));
        List<String> merged = said.getOrDefault("default-graph-uri", List.of());
        List<String> named = said.getOrDefault("named-graph-uri", List.of());
        DatasetGraph over = merged.isEmpty() && named.isEmpty()
            ? (Boolean.getBoolean("union") ? union() : data)
            : DynamicDatasets.dynamicDataset(DatasetDescription.create(merged, named), data, false);
        try (QueryExecution run = QueryExecutionFactory.create(query, over)) {
            if (query.isConstructType()) {
                RDFDataMgr.write(out, run.execConstruct(), Lang.NTRIPLES);
                return "application/n-triples";
            }
            if (query.isAskType()) ResultSetFormatter.outputAsJSON(out, run.execAsk());
            else ResultSetFormatter.outputAsJSON(out, run.execSelect());
            return "application/sparql-results+json";
        }
    }

    /** Returns the data with the union of their named graphs as default graph. */
    private DatasetGraph union() {
        DatasetGraph made = DatasetGraphFactory.create(GraphView.createUnionGraph(data));
        data.listGraphNodes().forEachRemaining(name -> made.addGraph(name, data.getGraph(name)));
        return made;
    }

    private static String sent(HttpExchange call, String direct) {
        List<String> found = parameters(call, direct).get(direct);
        if (found == null) throw new IllegalArgumentException("no " + direct);
        return found.get(0);
    }

    /** Returns what was sent, in the address, as a form, or as a text of its own. */
    private static Map<String, List<String>> parameters(HttpExchange call, String direct) {
        Map<String, List<String>> found = new HashMap<>();
        read(found, call.getRequestURI().getRawQuery());
        String type = String.valueOf(call.getRequestHeaders().getFirst("Content-Type"));
        try {
            String body = new String(call.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            if (type.startsWith("application/x-www-form-urlencoded")) read(found, body);
            else if (!body.isEmpty()) found.computeIfAbsent(direct, key -> new ArrayList<>()).add(body);
        } catch (IOException error) {
            throw new IllegalArgumentException(error);
        }
        return found;
    }

    private static void read(Map<String, List<String>> found, String form) {
        if (form == null) return;
        for (String each : form.split("&")) {
            int at = each.indexOf('=');
            if (at < 0) continue;
            String name = URLDecoder.decode(each.substring(0, at), StandardCharsets.UTF_8);
            String value = URLDecoder.decode(each.substring(at + 1), StandardCharsets.UTF_8);
            found.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
        }
    }
}
