// The query page: a plain editor, and in its place YASQE and YASR where they are at hand.
"use strict";
(() => {
  const form = document.getElementById("plain");
  const text = document.getElementById("text");
  const answer = document.getElementById("answer");
  const question = document.getElementById("question");
  const about = document.getElementById("about");
  let editor = null;

  function put(query) {
    text.value = query;
    if (editor) editor.setValue(query);
  }

  function element(name, content, attributes = {}) {
    const made = document.createElement(name);
    made.textContent = content;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function told(rows, names) {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of names) head.append(element("th", name, { scope: "col" }));
    const body = table.createTBody();
    for (const one of rows) {
      const row = body.insertRow();
      for (const name of names) {
        const cell = row.insertCell();
        cell.dataset.column = name;
        cell.append(element("span", one[name] ? one[name].value : ""));
      }
    }
    const around = element("div", "", { class: "scroll" });
    around.append(table);
    const count = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
    answer.replaceChildren(element("p", count, { class: "intro", role: "status" }), around);
  }

  async function run() {
    answer.replaceChildren(element("p", "Asking…", { role: "status" }));
    const sent = await fetch("/sparql", {
      method: "POST",
      headers: {
        "Content-Type": "application/sparql-query",
        Accept: "application/sparql-results+json, text/turtle;q=0.9",
      },
      body: text.value,
    });
    const said = await sent.text();
    if (!sent.ok) {
      answer.replaceChildren(element("p", said, { class: "wrong", role: "alert" }));
    } else if ((sent.headers.get("content-type") || "").startsWith("text/turtle")) {
      answer.replaceChildren(element("pre", said));
    } else {
      const found = JSON.parse(said);
      if ("boolean" in found) answer.replaceChildren(element("p", String(found.boolean), { role: "status" }));
      else told(found.results.bindings, found.head.vars);
    }
  }

  function rich() {
    const place = document.getElementById("editor");
    const results = document.getElementById("results");
    place.hidden = false;
    form.hidden = true;
    const { Yasqe, Yasr } = window.Yasgui;
    // What completes names asks other hosts for them, so it is off.
    editor = new Yasqe(place, {
      value: text.value,
      persistenceId: null,
      createShareableLink: null,
      autocompleters: [],
      requestConfig: { endpoint: "/sparql", method: "POST" },
    });
    const usual = {
      trails: "https://w3id.org/trails#",
      prov: "http://www.w3.org/ns/prov#",
      rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
      xsd: "http://www.w3.org/2001/XMLSchema#",
    };
    const shown = new Yasr(results, {
      persistenceId: null,
      maxPersistentResponseSize: 0,
      prefixes: () => ({ ...usual, ...editor.getPrefixesFromQuery() }),
    });
    editor.on("queryResponse", (_, response, duration) => {
      shown.setResponse(response, duration);
    });
    document.body.dataset.editor = "rich";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run().catch((error) => answer.replaceChildren(element("p", String(error), { role: "alert" })));
  });
  if (question) question.addEventListener("change", () => question.value && put(question.value));
  if (about) about.addEventListener("change", () => about.form.submit());
  if (form.dataset.script) {
    const script = document.createElement("script");
    script.src = form.dataset.script;
    script.addEventListener("load", () => {
      if (window.Yasgui) rich(); // else the plain editor does as well
    });
    document.head.append(script);
  }
})();
