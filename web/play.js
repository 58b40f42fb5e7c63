'use strict';
// The page to play on. FCL_PAGE, of fclc.js, has the compiler, the prelude and the library, and examples.

const PLAY = (() => {
  const LIMIT_MS = 20000; // a program may run for ever
  const HERE = 'program.fcl';
  const element = (id) => document.getElementById(id);
  let worker, waiting = new Map(), asked = 0;

  function start() {
    const source = `(${fclcWorker})(self);`;
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    worker.onmessage = ({ data }) => {
      waiting.get(data.id)?.(data);
      waiting.delete(data.id);
    };
    const packed = Uint8Array.from(atob(FCL_PAGE.compiler), (c) => c.charCodeAt(0));
    worker.postMessage({ packed, files: FCL_PAGE.files });
  }

  // `fclc` with these words, on the program in the editor.
  function fclc(...words) {
    if (!worker) start();
    const id = ++asked;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        worker.terminate(); // nothing else ends it; what else was asked of it is lost, too
        worker = undefined;
        const err = `stopped after ${LIMIT_MS / 1000} seconds`;
        for (const [, answer] of waiting) answer({ status: 4, out: '', err });
        waiting.clear();
      }, LIMIT_MS);
      waiting.set(id, (answer) => (clearTimeout(late), resolve(answer)));
      worker.postMessage({ id, words, files: { [HERE]: element('program').value } });
    });
  }

  // The words of a line: blanks separate them, but for those in brackets and strings.
  function split(line) {
    const words = [];
    let word = '', depth = 0;
    for (const c of line) {
      if ('[('.includes(c)) depth++;
      if ('])'.includes(c)) depth--;
      if (/\s/.test(c) && depth <= 0) {
        if (word) words.push(word);
        word = '';
      } else word += c;
    }
    return word ? [...words, word] : words;
  }

  // A call to begin with: that of the program's first test.
  function first_call(text) {
    const test = /^-- test (.*?) (?:==|~=)/m.exec(text);
    return test ? test[1] : '';
  }

  const VIEWS = {
    types: () => fclc('types', HERE),
    run: () => fclc('run', '--target=interp', HERE, ...split(element('call').value)),
    cuda: () => fclc(HERE, '--target=cuda', '-o', '-'),
    c: () => fclc(HERE, '--target=c', '-o', '-'),
    opencl: () => fclc(HERE, '--target=opencl', '-o', '-'),
    report: () => fclc('report', HERE, '-o', '-'),
  };
  let view = 'types', shown = 0;

  // Moves the cursor to where a message points.
  function go(line, column) {
    const editor = element('program'), lines = editor.value.split('\n');
    const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    editor.focus();
    editor.setSelectionRange(at, at + 1);
  }

  function show_messages(text) {
    const box = element('messages');
    box.textContent = '';
    for (const line of text.split(/(?<=\n)/)) {
      const place = new RegExp(`^${HERE.replace('.', '\\.')}:(\\d+):(\\d+): `).exec(line);
      const part = document.createElement(place ? 'button' : 'span');
      part.textContent = line;
      if (place) part.onclick = () => go(+place[1], +place[2]);
      box.append(part);
    }
    box.hidden = !text;
  }

  async function refresh() {
    const number = ++shown;
    document.body.dataset.state = 'busy';
    const { status, out, err } = await VIEWS[view]();
    if (number !== shown) return; // something else has been asked for meanwhile
    show_messages(err);
    const is_page = view === 'report' && status === 0;
    element('page').hidden = !is_page;
    element('text').hidden = is_page;
    if (is_page) element('page').srcdoc = out;
    else element('text').textContent = out;
    document.body.dataset.state = status === 0 ? 'good' : 'wrong';
  }

  function choose(name) {
    view = name;
    for (const tab of document.querySelectorAll('[data-view]'))
      tab.setAttribute('aria-selected', String(tab.dataset.view === view));
    element('call-line').hidden = view !== 'run';
    return refresh();
  }

  function load(text) {
    element('program').value = text;
    element('call').value = first_call(text);
    return refresh();
  }

  function begin() {
    const list = element('examples');
    for (const name of Object.keys(FCL_PAGE.examples)) list.append(new Option(name, name));
    list.onchange = () => load(FCL_PAGE.examples[list.value]);
    for (const tab of document.querySelectorAll('[data-view]')) tab.onclick = () => choose(tab.dataset.view);
    let timer;
    const later = () => (clearTimeout(timer), (timer = setTimeout(refresh, 300)));
    element('program').oninput = element('call').oninput = later;
    element('program').onkeydown = (event) => {
      if (event.key !== 'Tab' || event.shiftKey || event.ctrlKey) return;
      event.preventDefault(); // two blanks; Shift-Tab leaves the editor
      event.target.setRangeText('  ', event.target.selectionStart, event.target.selectionEnd, 'end');
      later();
    };
    load(Object.values(FCL_PAGE.examples)[0]);
  }
  return { begin };
})();
