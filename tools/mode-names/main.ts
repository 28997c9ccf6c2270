import { join, resolve } from 'node:path';
import { checkModeNames } from './check.ts';
import { MODE_NAMES, NAMED_IN } from './table.ts';

/** `node tools/mode-names/main.ts [--list] [CHECKOUT]`: which files name a mode. */
const args = process.argv.slice(2);
const isList = args.includes('--list');
const folder = args.find((arg) => !arg.startsWith('--'));
const root = folder === undefined ? join(import.meta.dirname, '../..') : resolve(folder);

const of = { modes: MODE_NAMES, namedIn: NAMED_IN };
const { fileCount, naming, violations, unused } = await checkModeNames(root, of);

if (isList) {
  const width = Math.max(...naming.map(({ file }) => file.length));
  for (const { file, modes } of naming) console.log(`${file.padEnd(width)}  ${modes.join(', ')}`);
}
const areas = Map.groupBy(naming, ({ file }) => file.split('/')[0] ?? '');
const counts = [...areas].map(([area, files]) => `${area} ${files.length}`).join(', ');
console.log(`${naming.length} of ${fileCount} files name a mode: ${counts}`);

for (const { file, line, modes } of violations) {
  console.error(
    `${file}:${line}\n  problem  names ${modes.join(', ')}\n` +
      '  remedy   ask a value of src/modes, a trait of src/config/modes.ts or a row of\n' +
      '           lab/proxies/fairlead-modes.ts; else name the file in tools/mode-names/table.ts\n',
  );
}
for (const row of unused) console.error(`${row}\n  problem  is in the table but names no mode\n`);
if (fileCount === 0) console.error(`No source files below ${root}.`);
if (fileCount === 0 || violations.length + unused.length > 0) process.exitCode = 1;
