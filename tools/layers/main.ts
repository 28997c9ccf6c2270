import { join } from 'node:path';
import { checkLayers, type Violation } from './check.ts';
import { LAYERS } from './table.ts';

const root = join(import.meta.dirname, '../..');
const { filesByLayer, files, violations } = await checkLayers(root, LAYERS);

const width = Math.max(...LAYERS.map(({ name }) => name.length));
console.log(`${'layer'.padEnd(width)}  files  may import from`);
for (const { name, uses, typesFrom = [] } of LAYERS) {
  const count = filesByLayer.get(name) ?? 0;
  const sources = [...uses, ...typesFrom.map((layer) => `${layer} (types)`)];
  console.log(
    `${name.padEnd(width)}  ${String(count || '-').padStart(5)}  ${sources.join(', ') || '-'}`,
  );
}
console.log();

for (const violation of violations) console.error(describe(violation));

if (files === 0) {
  console.error(`No source files below ${root}: a check that reads no files must not pass.`);
  process.exitCode = 1;
} else if (violations.length > 0) {
  console.error(
    `Violations: ${violations.length}, in ${files} files. The rules are in tools/layers/table.ts.`,
  );
  process.exitCode = 1;
} else {
  console.log(`${files} files, each within its layer.`);
}

function describe({ file, line, imports, row, problem, remedy }: Violation): string {
  const what = imports === undefined ? '' : `  imports  ${imports}\n`;
  const which = row === undefined ? '' : `  row      ${row}\n`;
  return `${file}:${line}\n${what}${which}  problem  ${problem}\n  remedy   ${remedy}\n`;
}
