import { join } from 'node:path';
import { checkLinks } from './check.ts';

const root = join(import.meta.dirname, '../..');
const { pageCount, linkCount, broken } = await checkLinks(root);

for (const { at, target, problem } of broken) {
  console.error(`${at}\n  problem  ${problem}: ${target}\n`);
}
if (linkCount === 0) {
  console.error(`No links below ${root}: a check that reads nothing must not pass.`);
}
if (linkCount === 0 || broken.length > 0) process.exitCode = 1;
else console.log(`${linkCount} relative links of ${pageCount} pages resolve.`);
