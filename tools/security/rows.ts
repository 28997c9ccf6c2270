/** A row of a table whose last column is the test: in SECURITY.md and docs/limits.md. */
export interface Row {
  readonly line: number;
  readonly what: string;
  readonly test: string;
}

/** The test of a row: a file, and words of the test's name in it. */
export interface NamedTest {
  readonly path: string;
  readonly words: string;
}

const TEST_COLUMN = /\| test \|$/;
const RULE = /^\|[-| ]+\|$/;
const NAMED_TEST = /^`([^`]+)` "([^"]+)"$/;

/** The rows of all tables whose last column is called `test`. */
export function rowsOf(markdown: string): readonly Row[] {
  const rows: Row[] = [];
  let isInTable = false;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('|')) isInTable = false;
    else if (TEST_COLUMN.test(line)) isInTable = true;
    else if (isInTable && !RULE.test(line)) {
      const cells = line.split('|').map((cell) => cell.trim());
      rows.push({ line: index + 1, what: cells[1] ?? '', test: cells.at(-2) ?? '' });
    }
  }
  return rows;
}

/** Undefined: the cell names none. */
export function testOf({ test }: Row): NamedTest | undefined {
  const [, path, words] = NAMED_TEST.exec(test) ?? [];
  return path === undefined || words === undefined ? undefined : { path, words };
}

/** What is wrong with a row; undefined: its test exists. `read` gives undefined for no such file. */
export function faultOf(row: Row, read: (path: string) => string | undefined): string | undefined {
  const named = testOf(row);
  if (named === undefined) return `line ${row.line}: '${row.what}' names no test`;
  const text = read(named.path);
  if (text === undefined) return `line ${row.line}: there is no ${named.path}`;
  if (text.includes(named.words)) return undefined;
  return `line ${row.line}: no test in ${named.path} is called "${named.words}"`;
}
