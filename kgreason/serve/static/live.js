// Put events on top of the table as the server sends them.
"use strict";
(() => {
  const rows = document.getElementById("events");
  if (!rows || rows.dataset.running !== "yes" || !window.EventSource) return;
  const count = document.getElementById("count");
  const state = document.getElementById("state");
  const own = `urn:kgreason:${rows.dataset.nonce}:`;
  const pages = { hypothesis: "hypotheses", symptom: "symptoms" };

  function cell(row, column, look, text) {
    const made = row.insertCell();
    made.dataset.column = column;
    made.className = look;
    const inner = document.createElement("span");
    inner.textContent = text;
    made.append(inner);
    return inner;
  }

  function about(iri) {
    const [kind, number] = iri.startsWith(own) ? iri.slice(own.length).split(":") : [iri, ""];
    const made = document.createElement(pages[kind] ? "a" : "span");
    if (pages[kind]) made.href = `/i/${rows.dataset.nonce}/${pages[kind]}/${number}`;
    made.textContent = kind === "hypothesis" ? `H${number}` : `${kind} ${number}`.trim();
    return made;
  }

  const source = new EventSource(`${rows.dataset.stream}?after=${rows.dataset.sent}`);
  source.addEventListener("message", (message) => {
    const one = JSON.parse(message.data);
    const row = rows.insertRow(0);
    cell(row, "Step", "look-number", String(one.step));
    cell(row, "Event", "", one.event).className = `badge ${one.event.replace(/[^a-z]+/g, "-")}`;
    const cited = cell(row, "About", "look-iri", "");
    if (one.about) cited.append(about(one.about));
    cell(row, "What", "look-text", one.note || one.rule || "");
    const moved = one.before === undefined ? "" : `${one.before.toFixed(3)} → ${one.after.toFixed(3)}`;
    cell(row, "Confidence", "look-number", moved);
    count.textContent = String(Number(count.textContent) + 1);
  });
  source.addEventListener("end", () => {
    source.close();
    state.textContent = `The investigation has ended: ${count.textContent} events. `;
    const answer = document.createElement("a");
    answer.href = `/i/${rows.dataset.nonce}`;
    answer.textContent = "Read the answer.";
    state.append(answer);
  });
})();
