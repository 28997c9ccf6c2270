import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tokens } from '../layers/tokens.ts';
import { codeFiles } from '../tree/code-files.ts';

export interface NamedModes {
  readonly file: string;
  /** Sorted, each once. */
  readonly modes: readonly string[];
  /** Line of the first. */
  readonly line: number;
}

export interface Report {
  readonly fileCount: number;
  readonly naming: readonly NamedModes[];
  /** Those that the table does not allow. */
  readonly violations: readonly NamedModes[];
  /** Rows of the table that no file needs. */
  readonly unused: readonly string[];
}

const CHECKED =
  /^(?:src|lab|bench|conformance|e2e|integration|tools)\/(?!.*(?:\.test\.ts$|\/testing\/))/;

/** Which files have a string that is a mode's name, or the name of a proxy that runs in it. */
export async function checkModeNames(
  root: string,
  of: { readonly modes: readonly string[]; readonly namedIn: Readonly<Record<string, string>> },
): Promise<Report> {
  const files = (await codeFiles(root)).filter((file) => CHECKED.test(file));
  const all = await Promise.all(
    files.map(async (file) => {
      const source = await readFile(join(root, file), 'utf8');
      return { file, ...namedModes(source, of.modes) };
    }),
  );
  const naming = all.filter(({ file, modes }) => modes.length > 0 && !isOwn(file));
  const rows = Object.keys(of.namedIn);
  return {
    fileCount: files.length,
    naming,
    violations: naming.filter(({ file }) => !rows.some((row) => covers(row, file))),
    unused: rows.filter((row) => !naming.some(({ file }) => covers(row, file))),
  };
}

/** `-ebpf` too: the end of a name selects two modes. */
export function namedModes(source: string, modes: readonly string[]): Omit<NamedModes, 'file'> {
  const pattern = new RegExp(
    `^(?:(?:fairlead|upstream)-)?(${[...modes, '-ebpf'].join('|')})(?:-legacy|-1\\.36)?$`,
  );
  const found = tokens(source).flatMap(({ kind, text, line }) => {
    const mode = kind === 'string' || kind === 'template' ? pattern.exec(text)?.[1] : undefined;
    return mode === undefined ? [] : [{ mode, line }];
  });
  const [first] = found;
  return { modes: [...new Set(found.map(({ mode }) => mode))].sort(), line: first?.line ?? 0 };
}

function isOwn(file: string): boolean {
  return file.startsWith('tools/mode-names/');
}

function covers(row: string, file: string): boolean {
  return row.endsWith('/') ? file.startsWith(row) : file === row;
}
