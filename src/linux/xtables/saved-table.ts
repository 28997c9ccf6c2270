/** A table as `iptables-save` prints it: each chain with its rules, in order. */
export type SavedTable = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the output of `iptables-save -t`. A rule is what follows `-A CHAIN `, with single spaces:
 * some matches print two. With counters it begins with them in brackets.
 */
export function parseSaved(text: string): SavedTable {
  const chains = new Map<string, string[]>();
  // Half a million lines in a large cluster: no list of them is made.
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const first = text[from];
    if (first === ':') {
      const name = text.slice(from + 1, text.indexOf(' ', from));
      chains.set(name, []);
    } else if (first === '-' || first === '[') addRule(chains, text.slice(from, to));
    from = to + 1;
  }
  return chains;
}

const APPEND = '-A ';

function addRule(chains: Map<string, string[]>, line: string): void {
  const at = line.indexOf(APPEND);
  const nameAt = at + APPEND.length;
  const end = line.indexOf(' ', nameAt);
  const name = end === -1 ? line.slice(nameAt) : line.slice(nameAt, end);
  const rest = end === -1 ? '' : line.slice(end + 1);
  const rule = rest.includes('  ') ? rest.replaceAll(/ {2,}/g, ' ') : rest;
  chains.get(name)?.push(line.slice(0, at) + rule);
}
