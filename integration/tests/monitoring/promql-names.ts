/** A metric that an expression asks for, and the labels by which it selects or groups. */
export interface AskedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

const WORDS = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'and',
  'or',
]);
const MORE_WORDS = new Set(['unless', 'bool', 'offset', 'inf', 'nan']);
/** Set by Prometheus itself, not by the agent. */
const TARGET_LABELS = new Set(['job', 'instance']);
const GROUPING = /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g;
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g;
const IDENTIFIER = /[a-zA-Z_:][\w:]*/g;

/**
 * Reads only what the expressions of deploy/monitoring use. Labels of a grouping are expected of every
 * metric of the expression that they are not the bounds or the result of.
 */
export function askedMetrics(expression: string): AskedMetric[] {
  const grouped = new Set<string>();
  const labelsOf = new Map<string, Set<string>>();
  const add = (name: string, labels: readonly string[]): void => {
    const known = labelsOf.get(name) ?? new Set();
    for (const label of labels) known.add(label);
    labelsOf.set(name, known);
  };
  const rest = withoutStrings(expression)
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(GROUPING, (_, _word: string, names: string) => {
      for (const label of listed(names)) grouped.add(label);
      return ' ';
    })
    .replaceAll(SELECTOR, (_, name: string, matchers: string) => {
      add(
        name,
        [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label ?? ''),
      );
      return ' ';
    });
  for (const { 0: name, index } of rest.matchAll(IDENTIFIER)) {
    const isFunction = /^\s*\(/.test(rest.slice(index + name.length));
    const isNumber = /[\d.]$/.test(rest.slice(0, index));
    if (!isFunction && !isNumber && !WORDS.has(name) && !MORE_WORDS.has(name)) add(name, []);
  }
  return [...labelsOf].map(([name, labels]) => ({
    name,
    labels: [...labels.union(grouped)].filter((label) => !TARGET_LABELS.has(label)).sort(),
  }));
}

/** Label values can contain anything; the query for the name of a label must not see them. */
function withoutStrings(expression: string): string {
  return expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}

function listed(names: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}
