'use strict';
// Sections of all pages that have every word of what is typed; those with the words in their titles come first.
// FCL_INDEX, of index.js, is a list of [page, anchor, title of the page, title of the section, text].

function fclSearch(wanted, most = 20) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  FCL_INDEX.forEach(([page, anchor, name, title, text], order) => {
    const low_title = title.toLowerCase(), low_text = text.toLowerCase();
    let points = 0;
    for (const word of words) {
      const in_title = low_title === word ? 100 : low_title.includes(word) ? 20 : 0;
      const times = low_text.split(word).length - 1;
      if (!in_title && !times) return;
      points += in_title + Math.min(times, 10);
    }
    const at = Math.max(0, low_text.indexOf(words[0]) - 60);
    const href = page + (anchor ? '#' + anchor : '');
    found.push({ href, name, title, text: text.slice(at, at + 200), points, order });
  });
  return found.sort((a, b) => b.points - a.points || a.order - b.order).slice(0, most);
}

addEventListener('DOMContentLoaded', () => {
  const box = document.getElementById('search'), list = document.getElementById('found');
  const root = document.documentElement.dataset.root;
  box.oninput = () => {
    list.textContent = '';
    for (const one of fclSearch(box.value)) {
      const item = document.createElement('li'), link = document.createElement('a'), text = document.createElement('p');
      link.href = root + one.href;
      link.textContent = one.title === one.name ? one.name : `${one.name}: ${one.title}`;
      text.textContent = one.text;
      item.append(link, text);
      list.append(item);
    }
    list.hidden = !list.childElementCount;
  };
  box.onkeydown = (event) => {
    if (event.key === 'Escape') box.value = '', box.oninput();
    if (event.key === 'Enter') list.querySelector('a')?.click();
  };
});
