import type { ChartValue } from './values.ts';

const HEAD = `# Written by \`npm run chart\` from tools/chart/values.ts; ../README.md has the same as a table.
# values.schema.json rejects keys that are not here.
`;
const COLUMNS = 100;

/** values.yaml: every default with its description as a comment. */
export function valuesText(values: readonly ChartValue[]): string {
  const lines: string[] = [];
  let open: readonly string[] = [];
  for (const { path, about, default: preset } of values) {
    const keys = path.split('.');
    const parents = keys.slice(0, -1);
    const shared = parents.filter((key, depth) => open[depth] === key).length;
    for (const [depth, key] of parents.entries()) {
      if (depth >= shared) lines.push(`${'  '.repeat(depth)}${key}:`);
    }
    const indent = '  '.repeat(parents.length);
    for (const line of wrapped(about, COLUMNS - indent.length)) lines.push(`${indent}# ${line}`);
    // JSON is YAML.
    lines.push(`${indent}${keys.at(-1)}: ${JSON.stringify(preset)}`);
    open = parents;
  }
  return `${HEAD}${lines.join('\n')}\n`;
}

function wrapped(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + word.length < columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
