import { join } from 'node:path';
import { checkLayers, type Violation } from './check.ts';
import { ROOMS } from './table.ts';

const root = join(import.meta.dirname, '../..');
const { filesByRoom, files, violations } = await checkLayers(root, ROOMS);

const width = Math.max(...ROOMS.map(({ name }) => name.length));
console.log(`${'room'.padEnd(width)}  files  may import from`);
for (const { name, uses, typesFrom = [] } of ROOMS) {
  const count = filesByRoom.get(name) ?? 0;
  const sources = [...uses, ...typesFrom.map((room) => `${room} (types)`)];
  console.log(
    `${name.padEnd(width)}  ${String(count || '-').padStart(5)}  ${sources.join(', ') || '-'}`,
  );
}
console.log();

for (const violation of violations) console.error(describe(violation));

if (files === 0) {
  console.error(`No source files below ${root}: a check that looks at nothing must not pass.`);
  process.exitCode = 1;
} else if (violations.length > 0) {
  console.error(
    `Violations: ${violations.length}, in ${files} files. The law is tools/layers/table.ts.`,
  );
  process.exitCode = 1;
} else {
  console.log(`${files} files, each within its room.`);
}

function describe({ file, line, imports, row, problem, remedy }: Violation): string {
  const what = imports === undefined ? '' : `  imports  ${imports}\n`;
  const which = row === undefined ? '' : `  row      ${row}\n`;
  return `${file}:${line}\n${what}${which}  problem  ${problem}\n  remedy   ${remedy}\n`;
}
