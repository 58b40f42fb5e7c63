'use strict';
// Sections of all pages that have every word of what is typed; those come first that are called so, and then those
// that others call so. FCL_INDEX, of index.js, is a list of [page, anchor, title of the page, title of the section,
// text, what else it is called].

const FCL_SECTIONS = FCL_INDEX.map(([page, anchor, name, title, text, also]) => ({
  href: page + (anchor ? '#' + anchor : ''), name, title, text, also, low_text: text.toLowerCase(),
  // `matMul` is found as one word, and as `mat mul`.
  titles: title.toLowerCase().split(/[\s,:]+/),
  parts: title.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase(),
  others: also.toLowerCase().split(/,\s*/).filter(Boolean),
}));

// How well a section fits a word; 0: not at all. What only its text has gives less than 10.
function fclPoints(section, word, begins) {
  const times = Math.min(section.low_text.split(begins).length - 1, 3);
  if (section.titles.length === 1 && section.titles[0] === word) return 100 + times;
  if (section.titles.includes(word)) return 60 + times;
  if (section.others.some((one) => one.split(' ').includes(word))) return 40 + times;
  if (begins.test(section.parts)) return 25 + times;
  if (section.others.some((one) => begins.test(one))) return 20 + times;
  return (section.titles.some((one) => one.includes(word)) ? 15 : 0) + times;
}

// Some words of a text around a place.
function fclExcerpt(text, place) {
  const from = place < 60 ? 0 : text.lastIndexOf(' ', place - 60) + 1;
  const is_all = text.length <= from + 200;
  const to = is_all ? text.length : Math.max(text.lastIndexOf(' ', from + 200), from + 100);
  return (from ? '… ' : '') + text.slice(from, to) + (is_all ? '' : ' …');
}

function fclSearch(wanted, most = 20) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean), phrase = words.join(' ');
  if (!words.length) return [];
  // A word is found where one begins so: `sum` is not in `assume`.
  const plain = (word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const begins = words.map((word) => new RegExp('(?<![\\p{L}\\d])' + plain(word), 'u'));
  const found = [];
  FCL_SECTIONS.forEach((section, order) => {
    const fits = words.map((word, i) => fclPoints(section, word, begins[i]));
    if (fits.includes(0)) return;
    const is_called_so = section.others.includes(phrase) || section.parts === phrase;
    const points = fits.reduce((sum, one) => sum + one, is_called_so ? 90 : 0);
    const text = fclExcerpt(section.text, fits[0] < 10 ? section.low_text.search(begins[0]) : 0);
    found.push({ ...section, text, points, order });
  });
  return found.sort((a, b) => b.points - a.points || a.order - b.order).slice(0, most);
}

addEventListener('DOMContentLoaded', () => {
  const box = document.getElementById('search'), list = document.getElementById('found');
  const root = document.documentElement.dataset.root;
  const part = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
  box.oninput = () => {
    list.replaceChildren();
    for (const one of fclSearch(box.value)) {
      const item = document.createElement('li');
      const link = part('a', one.title === one.name ? one.name : `${one.name}: ${one.title}`);
      link.href = root + one.href;
      item.append(link);
      if (one.also) item.append(Object.assign(part('p', `Also: ${one.also}`), { className: 'also' }));
      item.append(part('p', one.text));
      list.append(item);
    }
    if (box.value.trim() && !list.childElementCount)
      list.append(part('li', `Nothing has all of this in it: ${box.value.trim()}`));
    list.hidden = !list.childElementCount;
  };
  box.onkeydown = (event) => {
    if (event.key === 'Escape') box.value = '', box.oninput();
    if (event.key === 'Enter') list.querySelector('a')?.click();
  };
  list.onclick = (event) => {
    if (event.target.closest('a')) list.hidden = true; // it may be on this page
  };
});
