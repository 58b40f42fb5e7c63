'use strict';
// The page to play on. FCL_PAGE, of fclc.js, has the compiler, the prelude and the library, and examples.

const PLAY = (() => {
  const LIMIT_SECONDS = 10; // a program may run for ever
  const SHOWN_MOST = 1000000; // characters
  const HERE = 'program.fcl';
  const element = (id) => document.getElementById(id);

  // ---- the compiler, in a worker ----

  let compiler; // a promise: it is unpacked and compiled once, for all workers
  let worker, job; // one call at a time

  async function unpacked() {
    const packed = Uint8Array.from(atob(FCL_PAGE.compiler), (c) => c.charCodeAt(0));
    return WebAssembly.compile(await through(new DecompressionStream('gzip'), packed));
  }

  // The bytes that a stream makes of bytes.
  function through(stream, bytes) {
    return new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
  }

  function start() {
    const source = URL.createObjectURL(new Blob([`(${fclcWorker})(self);`], { type: 'text/javascript' }));
    worker = new Worker(source);
    URL.revokeObjectURL(source);
    worker.onmessage = ({ data }) => end(data);
  }

  function end(answer) {
    const ended = job;
    job = undefined;
    clearTimeout(ended.late);
    ended.answer(answer);
  }

  // Nothing but its end ends what a worker does: the next call gets a new one.
  function stop(why) {
    if (!job) return;
    worker.terminate();
    worker = undefined;
    end({ status: 4, out: '', err: why });
  }

  // `fclc` with these words, on the program in the editor, instead of what it is at.
  async function fclc(...words) {
    const module = await (compiler ??= unpacked());
    stop('');
    if (!worker) start();
    return new Promise((answer) => {
      job = { answer, late: setTimeout(stop, LIMIT_SECONDS * 1000, `stopped after ${LIMIT_SECONDS} seconds`) };
      worker.postMessage({ module, words, files: { ...FCL_PAGE.files, [HERE]: element('program').value } });
    });
  }

  // ---- views ----

  // The words of a line: blanks separate them, but for those in brackets and strings.
  function split(line) {
    const words = [];
    let word = '', depth = 0;
    for (const c of line) {
      if ('[({'.includes(c)) depth++;
      if ('])}'.includes(c)) depth--;
      if (/\s/.test(c) && depth <= 0) {
        if (word) words.push(word);
        word = '';
      } else word += c;
    }
    return word ? [...words, word] : words;
  }

  // A call to begin with: that of the program's first test.
  function first_call(text) {
    const test = /^-- test (?!forall )(.*?) (?:==|~=)/m.exec(text);
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

  // ---- the editor: a text without colour above the same one in colours ----

  function paint() {
    const text = element('program').value;
    fclPaint(element('colours'), text + '\n'); // an empty last line is a line, too
    element('numbers').textContent = text.split('\n').map((_, i) => i + 1).join('\n') + '\n';
    follow();
  }

  // Numbers and colours stand where the text is scrolled to.
  function follow() {
    const { scrollLeft, scrollTop } = element('program');
    element('colours').style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    element('numbers').style.transform = `translateY(${-scrollTop}px)`;
  }

  // Moves the cursor to where a message points.
  function go(line, column) {
    const editor = element('program'), lines = editor.value.split('\n');
    const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    editor.focus();
    editor.setSelectionRange(at, at); // brings it into view, which a range does not
    editor.blur();
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
      if (/^ *\d* \|/.test(line)) part.className = 'quoted';
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
    const is_page = view === 'report' && status === 0, more = out.length - SHOWN_MOST;
    element('page').hidden = !is_page;
    element('text').hidden = is_page;
    if (is_page) element('page').srcdoc = out;
    else element('text').textContent = more > 0 ? out.slice(0, SHOWN_MOST) + `… and ${more} characters more` : out;
    document.body.dataset.state = status === 0 ? 'good' : 'wrong';
  }

  function select(name) {
    view = name;
    for (const tab of document.querySelectorAll('[data-view]'))
      tab.setAttribute('aria-selected', String(tab.dataset.view === view));
    element('call-line').hidden = view !== 'run';
  }

  function choose(name) {
    select(name);
    return refresh();
  }

  function load(text, call = first_call(text)) {
    element('program').value = text;
    element('call').value = call;
    element('program').scrollTo(0, 0);
    paint();
    return refresh();
  }

  // ---- links: behind `#` are the program, the call and the view; a server is told nothing of them ----

  let linked = ''; // what is behind `#`, where it is read already

  async function link() {
    const text = new TextEncoder().encode(element('program').value);
    const bytes = new Uint8Array(await through(new CompressionStream('deflate-raw'), text));
    const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    const program = letters.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    linked = '#' + new URLSearchParams({ view, call: element('call').value, program });
    location.hash = linked;
    let is_copied = true;
    await navigator.clipboard.writeText(location.href).catch(() => (is_copied = false));
    say(is_copied ? 'copied' : 'it is the address of this page now');
  }

  // Loads the program that the address has; false: it has none, or none that can be read.
  async function load_linked() {
    linked = location.hash;
    const parts = new URLSearchParams(linked.slice(1)), program = parts.get('program');
    if (program === null) return false;
    try {
      const letters = atob(program.replaceAll('-', '+').replaceAll('_', '/'));
      const bytes = Uint8Array.from(letters, (c) => c.charCodeAt(0));
      const text = new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), bytes));
      if (Object.hasOwn(VIEWS, parts.get('view'))) select(parts.get('view'));
      element('examples').selectedIndex = -1;
      load(text, parts.get('call') ?? undefined);
      return true;
    } catch {
      say('no program can be read from this link: is it whole?');
      return false;
    }
  }

  let silence;
  function say(what) {
    element('said').textContent = what;
    clearTimeout(silence);
    silence = setTimeout(() => (element('said').textContent = ''), 8000);
  }

  async function begin() {
    const list = element('examples'), program = element('program');
    for (const name of Object.keys(FCL_PAGE.examples)) list.append(new Option(name, name));
    list.onchange = () => load(FCL_PAGE.examples[list.value]);
    for (const tab of document.querySelectorAll('[data-view]')) tab.onclick = () => choose(tab.dataset.view);
    element('stop').onclick = () => stop('stopped');
    element('link').onclick = link;
    addEventListener('hashchange', () => location.hash !== linked && load_linked());
    let timer;
    const later = () => (clearTimeout(timer), (timer = setTimeout(refresh, 300)));
    element('call').oninput = later;
    program.oninput = () => (paint(), later());
    program.onscroll = follow;
    program.onkeydown = (event) => {
      if (event.key !== 'Tab' || event.shiftKey || event.ctrlKey) return;
      event.preventDefault(); // two blanks; Shift-Tab leaves the editor
      program.setRangeText('  ', program.selectionStart, program.selectionEnd, 'end');
      program.oninput();
    };
    if (!(await load_linked())) load(Object.values(FCL_PAGE.examples)[0]);
  }
  return { begin };
})();
