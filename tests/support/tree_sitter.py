"""A tree-sitter grammar as one for Bison, to be tested where tree-sitter's generator is not.

usage: tree_sitter.py GRAMMAR.json OUT.y OUT.tokens

Bison and tree-sitter both make LR parsers, and both ask for precedences where a grammar leaves
something open; Bison's tables are smaller (LALR), so what it takes without a conflict has none for
tree-sitter either. The parser that is made reads token numbers, one a line; OUT.tokens has
`number<TAB>kind<TAB>name` for each.
"""

import itertools
import json
import sys


class Converter:
    def __init__(self, grammar):
        self.grammar = grammar
        self.external = {one["name"] for one in grammar["externals"]}
        self.terminals = {}  # (kind, name) -> number
        self.levels = {}  # terminal -> (precedence, associativity)
        self.rules = {}  # nonterminal -> [(symbols, precedence)]
        self.helpers = 0
        for name, rule in grammar["rules"].items():
            if not self.is_terminal(name):
                self.rules["r_" + name] = self.productions(rule)

    def is_terminal(self, name):
        return name in self.external or self.grammar["rules"][name]["type"] in ("PATTERN", "TOKEN")

    def terminal(self, kind, name):
        return "T%d" % self.terminals.setdefault((kind, name), len(self.terminals) + 1)

    def helper(self, productions):
        self.helpers += 1
        name = f"h_{self.helpers}"
        self.rules[name] = productions(name)
        return name

    def productions(self, rule):
        """All sequences of symbols that a rule stands for, each with a precedence or None."""
        kind = rule["type"]
        if kind == "BLANK":
            return [((), None)]
        if kind == "STRING":
            return [((self.terminal("text", rule["value"]), ), None)]
        if kind == "SYMBOL":
            name = rule["name"]
            return [((self.terminal("rule", name) if self.is_terminal(name) else "r_" + name, ),
                     None)]
        if kind == "SEQ":
            parts = [self.productions(one) for one in rule["members"]]
            return [(tuple(itertools.chain.from_iterable(symbols for symbols, _ in way)), None)
                    for way in itertools.product(*parts)]
        if kind == "CHOICE":
            return [one for member in rule["members"] for one in self.productions(member)]
        if kind in ("REPEAT", "REPEAT1"):
            content = self.productions(rule["content"])
            name = self.helper(
                lambda name: content + [((name, ) + symbols, level) for symbols, level in content])
            return [((name, ), None)] + ([((), None)] if kind == "REPEAT" else [])
        if kind in ("FIELD", "ALIAS"):
            return self.productions(rule["content"])
        if kind.startswith("PREC"):
            level = (rule["value"], kind)
            found = []
            for symbols, _ in self.productions(rule["content"]):
                found.append((symbols, level))
                for one in symbols[1:-1]:  # of an infix operator: the token has it, too
                    if one.startswith("T") and len(symbols) == 3 and symbols[0] == symbols[2]:
                        assert self.levels.setdefault(one, level) == level, symbols
            return found
        raise ValueError(kind)

    def grammar_text(self):
        levels = {level for rules in self.rules.values() for _, level in rules if level}
        words = {"PREC": "%precedence", "PREC_LEFT": "%left", "PREC_RIGHT": "%right"}
        lines = [
            "%{\n#include <stdio.h>\nstatic int yylex(void);",
            "static void yyerror(const char *why);\n%}", "%define parse.lac full"
        ]
        lines += [
            f"%token {one} {number + 257}"
            for number, one in ((number, f"T{number}") for number in self.terminals.values())
        ]
        for level in sorted(levels):
            tokens = [one for one, of in self.levels.items() if of == level]
            lines.append(f"{words[level[1]]} P{level[0]}_{level[1]} " + " ".join(tokens))
        lines += ["%start r_source_file", "%%"]
        for name, productions in self.rules.items():
            ways = [(" ".join(symbols) or "%empty") +
                    (f" %prec P{level[0]}_{level[1]}" if level else "")
                    for symbols, level in productions]
            lines.append(f"{name}: " + "\n  | ".join(ways) + "\n  ;")
        lines.append("""%%
static int number;
static int yylex(void) { return scanf("%d", &number) == 1 ? number + 257 : 0; }
static void yyerror(const char *why) { (void)why; }
int main(void) { return yyparse(); }
""")
        return "\n".join(lines)

    def tokens_text(self):
        return "".join(f"{number}\t{kind}\t{name}\n"
                       for (kind, name), number in self.terminals.items())


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        converter = Converter(json.load(source))
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write(converter.grammar_text())
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        out.write(converter.tokens_text())
