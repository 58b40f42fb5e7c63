// For each file that is named, as JSON: for each line the kind of token that web/highlight.js gives each byte.
'use strict';
const fs = require('fs'), path = require('path');
globalThis.addEventListener = () => {};
const source = fs.readFileSync(path.join(__dirname, '../../web/highlight.js'), 'utf8');
const fclTokens = new Function(source + '; return fclTokens;')();

function kinds_of(file) {
  const text = fs.readFileSync(file, 'utf8'), tokens = fclTokens(text), lines = [[]];
  if (tokens.map(([, word]) => word).join('') !== text) throw new Error(`${file} is not its tokens`);
  for (const [kind, word] of tokens)
    for (const letter of word)
      if (letter === '\n') lines.push([]);
      else lines.at(-1).push(...Array(Buffer.byteLength(letter)).fill(kind));
  return lines;
}

console.log(JSON.stringify(process.argv.slice(2).map(kinds_of)));
