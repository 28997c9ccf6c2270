import { join } from 'node:path';
import { checkWallClock } from './check.ts';
import { READERS } from './table.ts';

const root = join(import.meta.dirname, '../..');
const { fileCount, violations, unused } = await checkWallClock(root, READERS);

for (const place of violations) {
  console.error(
    `${place}\n  problem  reads the wall clock, which may be set at any time\n` +
      '  remedy   use monotonicMs() of a Clock, or performance.now(); for a date that a person or the\n' +
      '           API reads, name the file in tools/wall-clock/table.ts\n',
  );
}
for (const file of unused)
  console.error(`${file}\n  problem  is in the table but does not read the wall clock\n`);

if (fileCount === 0) {
  console.error(`No source files below ${root}: a check that reads no files must not pass.`);
}
if (fileCount === 0 || violations.length + unused.length > 0) process.exitCode = 1;
else
  console.log(`${fileCount} files, of which ${Object.keys(READERS).length} read the wall clock.`);
