'use strict';
// Programs in colours. Kinds of tokens are called as `fclc --dump=tokens` calls them; a comment is one, too.

// [kind, text] of every token, and ['', text] of what is between them: their texts together are the program.
function fclTokens(text) {
  const KEYWORDS = new Set(('sig fun val kernel param type import let in fn if then else true false div mod not ' +
                            'match with contract approximate anyOrder data').split(' '));
  const RULES = [
    ['', /\s+/y],
    ['comment', /--.*/y],
    ['symbol', /\(\*\)/y], // the section of the product, also inside of comments
    ['comment', /\(\*/y],
    ['string', /"(\\.|[^"\\\n])*"?/y],
    ['integer', /'(\\x[\da-f][\da-f]|\\.|[^'\\\n])'/iy], // a character
    ['floating', /0x[\da-f](_?[\da-f])*(\.[\da-f](_?[\da-f])*)?p[-+]?\d(_?\d)*(f16|bf16|f32|f64)?(?![\w'])/iy],
    ['floating', /\d(_?\d)*(\.\d(_?\d)*([eE][-+]?\d(_?\d)*)?|[eE][-+]?\d(_?\d)*)(f16|bf16|f32|f64)?(?![\w'])/y],
    ['floating', /\d(_?\d)*(f16|bf16|f32|f64)(?![\w'])/y],
    ['integer', /(0x[\da-f](_?[\da-f])*|0b[01](_?[01])*|\d(_?\d)*)([iu](8|16|32|64))?(?![\w'])/iy],
    ['config', /#[A-Za-z][\w']*/y],
    ['type-variable', /'[A-Za-z][\w']*/y],
    ['name', /_*[A-Za-z][\w']*/y],
    ['symbol', /[^\w\s]|\w+/uy],
  ];
  // Where a comment ends that begins at a place: comments are in each other.
  const comment_end = (begin) => {
    const mark = /\(\*\)|\(\*|\*\)/g;
    mark.lastIndex = begin;
    for (let found, depth = 0; (found = mark.exec(text));) {
      depth += { '(*)': 0, '(*': 1, '*)': -1 }[found[0]];
      if (depth === 0 && found[0] === '*)') return mark.lastIndex;
    }
    return text.length;
  };
  // These are words of their own only in options of a kernel, in records and in arms, and where a type is declared.
  const is_option = (word, begin, end) => {
    const before = text.slice(Math.max(0, begin - 200), begin), behind = text.slice(end, end + 200);
    if (word === 'with')
      return /^\s+(contract|approximate|anyOrder)(?![\w'])/.test(behind) ||
             /^\s+(#|\||(\{[^}\n]*\}|[^={\n])*=>|_*[A-Za-z][\w']*\s*=[^=>])|^\s*\n/.test(behind);
    if (word === 'data') return /(^|\n)[ \t]*$/.test(before) && /^[ \t]+[\w' \t]+=\s*[A-Z]/.test(behind);
    return /(^|[^\w'])with\s+$/.test(before) ||
           (/,\s*$/.test(before) && /^\s*(=([^=]|$)|,\s*(#|(contract|approximate|anyOrder)(?![\w'])))/.test(behind));
  };
  const tokens = [];
  for (let at = 0; at < text.length;) {
    for (let [kind, rule] of RULES) {
      rule.lastIndex = at;
      const found = rule.exec(text);
      if (!found) continue;
      let word = found[0];
      if (word === '(*') word = text.slice(at, comment_end(at));
      if (kind === 'name' && KEYWORDS.has(word) &&
          (!/^(with|contract|approximate|anyOrder|data)$/.test(word) || is_option(word, at, at + word.length)))
        kind = 'keyword';
      tokens.push([kind, word]);
      at += word.length;
      break;
    }
  }
  return tokens;
}

// Puts a program into an element, each token in a span of its kind; what is defined has its own.
function fclPaint(element, text) {
  const all = document.createDocumentFragment();
  let defines = false; // is the next name one that is defined here?
  for (const [kind, word] of fclTokens(text)) {
    if (!kind || kind === 'symbol') {
      all.append(word);
    } else {
      const part = document.createElement('span');
      part.className = kind === 'name' && defines ? 'is-defined' : `is-${kind}`;
      if (kind === 'comment' && /^-- test /.test(word)) part.className = 'is-test';
      part.textContent = word;
      all.append(part);
    }
    if (kind) defines = kind === 'keyword' && /^(sig|fun|val|kernel|param|type|data)$/.test(word);
  }
  element.replaceChildren(all);
}

addEventListener('DOMContentLoaded', () => {
  for (const code of document.querySelectorAll('code.language-fcl')) fclPaint(code, code.textContent);
});
