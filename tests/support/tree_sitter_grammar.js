// Prints the grammar.json of a tree-sitter grammar, as `tree-sitter generate` would; the argument is
// grammar.js.
// A grammar is data; these are the words that it is written with.
const path = require('path');

const rule = (value) => {
  if (value === undefined) throw new Error('a rule that does not exist');
  if (typeof value === 'string') return { type: 'STRING', value };
  if (value instanceof RegExp) return { type: 'PATTERN', value: value.source };
  return value;
};
const precedence = (type) => (value, content) =>
  content === undefined
    ? { type, value: 0, content: rule(value) }
    : { type, value, content: rule(content) };

global.seq = (...members) => ({ type: 'SEQ', members: members.map(rule) });
global.choice = (...members) => ({ type: 'CHOICE', members: members.map(rule) });
global.optional = (content) => choice(content, { type: 'BLANK' });
global.repeat = (content) => ({ type: 'REPEAT', content: rule(content) });
global.repeat1 = (content) => ({ type: 'REPEAT1', content: rule(content) });
global.field = (name, content) => ({ type: 'FIELD', name, content: rule(content) });
global.alias = (content, value) => ({
  type: 'ALIAS', content: rule(content), named: value.type === 'SYMBOL', value: value.name || value,
});
global.prec = precedence('PREC');
prec.left = precedence('PREC_LEFT');
prec.right = precedence('PREC_RIGHT');

global.grammar = (options) => {
  const symbols = new Proxy({}, { get: (_, name) => ({ type: 'SYMBOL', name }) });
  const list = (of) => (of ? of(symbols).map(rule) : []);
  const rules = {};
  for (const [name, body] of Object.entries(options.rules)) rules[name] = rule(body(symbols));
  return {
    name: options.name,
    word: options.word(symbols).name,
    rules,
    extras: list(options.extras),
    conflicts: [],
    precedences: [],
    externals: list(options.externals),
    inline: [],
    supertypes: [],
  };
};

console.log(JSON.stringify(require(path.resolve(process.argv[2])), null, 2));
