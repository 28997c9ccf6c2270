/** `npm run check -- quotas`, or `node tools/quotas/main.ts [PART-OF-A-BOUND ...]`: each quota is taken away, and its test fails. */
import { join } from 'node:path';
import { QUOTAS } from './catalogue.ts';
import { takeQuotas } from './check.ts';

const root = join(import.meta.dirname, '../..');
const asked = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

const chosen = QUOTAS.filter(
  ({ bound }) => asked.length === 0 || asked.some((part) => bound.includes(part)),
);
for await (const { quota, problem, tookMs } of takeQuotas(root, chosen, stop.signal)) {
  const seconds = (tookMs / 1000).toFixed(1).padStart(6);
  console.log(
    `${problem === undefined ? 'noticed' : 'FAILED '}  ${quota.bound.padEnd(52)} ${seconds} s`,
  );
  if (problem === undefined) continue;
  console.error(problem);
  process.exitCode = 1;
}
