// A slider for each size that the amounts of a kernel depend on; the amounts are computed for what is chosen.
"use strict";
for (const section of document.querySelectorAll("section")) {
  const functions = new Set(["ceil", "floor", "min", "max"]);
  const word = /(?<![\w.])[A-Za-z_][\w.']*/g;
  const meanings = new Map();
  for (const name of section.querySelectorAll("dt")) meanings.set(name.textContent, name.nextSibling.textContent);

  // "at most 4*n" is [mark, formula].
  const apart = (text) => text.match(/^((?:at most )?(?:about )?)(.*)$/s).slice(1);
  const isFormula = (text) => /^[-\w\s.*+/()<>=!?:,']*$/.test(text) && !/ (of|that|in) /.test(text);
  const sizes = new Map();
  function find(formula) {
    for (const name of formula.match(word) ?? []) {
      if (functions.has(name) || sizes.has(name)) continue;
      const meaning = meanings.get(name);
      if (meaning && isFormula(meaning)) find(meaning);
      else sizes.set(name, 2 ** 10);
    }
  }
  function value(formula, depth = 0) {
    if (depth > 16) return NaN;
    const known = (name) => functions.has(name) ? `Math.${name}`
      : sizes.has(name) ? String(sizes.get(name)) : `(${value(meanings.get(name) ?? "NaN", depth + 1)})`;
    try {
      return Function(`return ${formula.replace(word, known)}`)();
    } catch {
      return NaN;
    }
  }

  const outputs = [];
  for (const output of section.querySelectorAll("output")) {
    const [mark, formula] = apart(output.textContent);
    if (!/[A-Za-z]/.test(formula) || !isFormula(formula)) continue;
    output.title = output.textContent;
    outputs.push([output, mark, formula]);
    find(formula);
  }
  function show() {
    for (const [output, mark, formula] of outputs) {
      const number = value(formula);
      output.textContent = Number.isFinite(number) ? mark + number.toLocaleString("en") : output.title;
    }
  }
  if (sizes.size === 1) for (const name of sizes.keys()) sizes.set(name, 2 ** 20);
  for (const [name, size] of sizes) {
    const label = document.createElement("label"), shown = document.createElement("b"),
      slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: 27, step: 0.25, value: Math.log2(size) });
    label.title = meanings.get(name) ?? "";
    slider.oninput = () => {
      sizes.set(name, Math.round(2 ** slider.value));
      shown.textContent = sizes.get(name).toLocaleString("en");
      show();
    };
    label.append(name, slider, shown);
    section.querySelector(".sizes").append(label);
    shown.textContent = size.toLocaleString("en");
  }
  show();
}
