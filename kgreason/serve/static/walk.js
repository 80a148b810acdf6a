// The provenance as a graph that grows where one clicks; without Cytoscape the drawing stays.
"use strict";
(() => {
  const walk = document.getElementById("walk");
  if (!walk || !walk.dataset.script) return;
  const COLUMN = window.innerWidth < 640 ? 240 : 330;
  const ROW = 42;
  const LEAST = 0.55; // smaller text cannot be read
  const MOST = 6; // nodes of one kind that are shown at once; the lists below the drawing have all
  const lowest = new Map(); // the next free place of each column
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function told(found, centre) {
    const counts = new Map();
    const kept = found.links.filter((one) => {
      const outward = one.source === centre;
      const group = `${outward} ${one.label}`;
      counts.set(group, (counts.get(group) || 0) + 1);
      return counts.get(group) <= MOST;
    });
    return { nodes: new Map(found.nodes.map((one) => [one.id, one])), links: kept };
  }

  // What leads to a node stands in the column at its left, what it leads to at its right.
  function grown(cy, found, centre) {
    const { nodes, links } = told(found, centre);
    const middle = cy.getElementById(centre);
    const column = middle.nonempty() ? middle.data("column") : 0;
    if (middle.empty()) {
      cy.add({ data: { ...nodes.get(centre), column }, position: { x: 0, y: 0 } });
    }
    for (const side of [-1, 1]) {
      const fresh = new Set(
        links
          .map((one) => (side < 0 ? one.source : one.target))
          .filter((id) => id !== centre && cy.getElementById(id).empty()),
      );
      const at = column + side;
      const height = fresh.size * ROW;
      const wanted = cy.getElementById(centre).position("y") - height / 2 + ROW / 2;
      let y = Math.max(wanted, lowest.has(at) ? lowest.get(at) : wanted);
      for (const id of fresh) {
        cy.add({ data: { ...nodes.get(id), column: at }, position: { x: at * COLUMN, y } });
        y += ROW;
      }
      if (fresh.size) lowest.set(at, y);
    }
    for (const one of links) {
      const id = `${one.source} ${one.label} ${one.target}`;
      if (cy.getElementById(id).empty()) cy.add({ data: { ...one, id } });
    }
  }

  async function neighbours(node) {
    const found = await fetch(`${walk.dataset.walk}?node=${encodeURIComponent(node)}`);
    if (!found.ok) throw new Error(`${found.status}`);
    return found.json();
  }

  async function chosen(cy, node) {
    const one = cy.getElementById(node);
    const kind = one.data("kind");
    document.getElementById("walk-open").href = one.data("page") || "#";
    document.getElementById("walk-name").textContent = one.data("label") + (kind ? ` (${kind})` : "");
    cy.elements().unselect();
    one.select();
    one.connectedEdges().select();
  }

  async function begin() {
    const canvas = document.getElementById("canvas");
    const first = await neighbours(walk.dataset.node);
    canvas.hidden = false;
    document.getElementById("walk-help").hidden = false;
    walk.querySelector("svg.drawn").style.display = "none";
    const kinds = { Hypothesis: "--s1", Evidence: "--s2", Symptom: "--s3", Step: "--s6", Test: "--s4" };
    const cy = window.cytoscape({
      container: canvas,
      style: [
        { selector: "node", style: { label: "data(label)", shape: "round-rectangle", width: 170, height: 26, "background-color": colour("--card"), "border-width": 1.5, "border-color": colour("--s5"), color: colour("--ink"), "font-size": 13, "text-valign": "center", "text-wrap": "ellipsis", "text-max-width": 160 } },
        ...Object.entries(kinds).map(([kind, name]) => ({ selector: `node[kind = "${kind}"]`, style: { "border-color": colour(name), "border-width": 2.5 } })),
        { selector: "node:selected", style: { "background-color": colour("--accent-wash"), "border-color": colour("--accent") } },
        { selector: "edge", style: { width: 1.2, "line-color": colour("--line"), "target-arrow-color": colour("--line"), "target-arrow-shape": "triangle", "curve-style": "bezier" } },
        { selector: "edge:selected", style: { "line-color": colour("--accent"), "target-arrow-color": colour("--accent") } },
        { selector: "edge.named", style: { label: "data(label)", "font-size": 12, color: colour("--ink"), "text-background-color": colour("--card"), "text-background-opacity": 1, "text-background-padding": 3 } },
      ],
    });
    grown(cy, first, walk.dataset.node);
    chosen(cy, walk.dataset.node);
    cy.fit(undefined, 24);
    if (cy.zoom() < LEAST) {
      cy.zoom(LEAST);
      cy.center(cy.getElementById(walk.dataset.node).closedNeighborhood());
    }
    cy.on("tap", "node", async (event) => {
      const node = event.target.id();
      const before = cy.elements().length;
      grown(cy, await neighbours(node), node);
      chosen(cy, node);
      if (cy.elements().length > before) cy.animate({ fit: { eles: event.target.closedNeighborhood(), padding: 24 } }, { duration: 250 });
    });
    cy.on("mouseover", "edge", (event) => event.target.addClass("named"));
    cy.on("mouseout", "edge", (event) => event.target.removeClass("named"));
    cy.on("mouseover", "node", (event) => event.target.connectedEdges().addClass("named"));
    cy.on("mouseout", "node", (event) => event.target.connectedEdges().removeClass("named"));
    walk.provenance = cy; // for tests, and for who wants to look closer in the console
    walk.dataset.drawn = "yes";
  }

  const script = document.createElement("script");
  script.src = walk.dataset.script;
  script.addEventListener("load", () => begin().catch((error) => console.error(error)));
  document.head.append(script);
})();
