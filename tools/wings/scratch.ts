import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WINGS, type WingRow } from './table.ts';

/** Where wings are named: each by one entry, which leaves with it. */
const REGISTRIES = ['src/wings/wing-registry.ts', 'src/wings/commands.ts', 'tools/wings/table.ts'];

/** A copy of the checkout without some wings, for the time of a check. */
export interface Scratch extends AsyncDisposable {
  readonly folder: string;
}

/** These, and all that stand on one of them. */
export function leavingWith(names: readonly string[]): readonly WingRow[] {
  const standsOnOne = ({ standsOn = [] }: WingRow) => standsOn.some((name) => names.includes(name));
  const more = WINGS.filter((wing) => !names.includes(wing.name) && standsOnOne(wing));
  if (more.length > 0) return leavingWith([...names, ...more.map(({ name }) => name)]);
  return WINGS.filter(({ name }) => names.includes(name));
}

/** Test beds test the whole, wings included. */
const BEDS = ['bench/', 'conformance/', 'e2e/', 'integration/', 'lab/'];

/** The checkout as it stands, with what is not committed; test beds only on request. */
export async function scratchWithout(
  root: string,
  wings: readonly WingRow[],
  { withBeds = false } = {},
): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-without-'));
  // Tests start programs of it as other users.
  await chmod(folder, 0o755);
  const folders = [...(withBeds ? [] : BEDS), ...wings.flatMap((wing) => wing.folders)];
  const files = filesOf(root).filter((file) => !folders.some((gone) => file.startsWith(gone)));
  for (const parent of new Set(files.map((file) => dirname(file)))) {
    await mkdir(join(folder, parent), { recursive: true });
  }
  await Promise.all(files.map((file) => cp(join(root, file), join(folder, file))));
  for (const shared of ['node_modules', 'dist']) {
    if (existsSync(join(root, shared))) await symlink(join(root, shared), join(folder, shared));
  }
  for (const file of REGISTRIES) await takeOut(join(folder, file), wings);
  const only = { extends: './tsconfig.json', include: ['src'], exclude: ['src/wings/view/page'] };
  await writeFile(join(folder, 'tsconfig.src.json'), JSON.stringify(only));
  return {
    folder,
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}

function filesOf(root: string): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

async function takeOut(file: string, wings: readonly WingRow[]): Promise<void> {
  const text = await readFile(file, 'utf8');
  const left = wings.reduce((rest, { name }) => withoutEntry(rest, name), text);
  await writeFile(file, left);
}

/** An entry of an object by its key, or a row of a list by its name, as the formatter lays them out. */
export function withoutEntry(text: string, name: string): string {
  const entry = new RegExp(`^  ${name}: \\{\\n[^]*?^  \\},\\n`, 'm');
  const row = new RegExp(`^  \\{\\n    name: '${name}',\\n[^]*?^  \\},\\n`, 'm');
  return text.replace(entry, '').replace(row, '');
}
