/**
 * `npm run core-alone -- conformance/main.ts [arguments]`: a program of a test bed in a copy without any
 * wing. Beds import nothing of a wing; what is in integration/ does, and does not run there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { scratchWithout } from './scratch.ts';
import { WINGS } from './table.ts';

const EXIT_USAGE = 2;
const [program, ...args] = process.argv.slice(2);

if (program === undefined) {
  console.error('Usage: npm run core-alone -- conformance/main.ts [arguments]');
  process.exitCode = EXIT_USAGE;
} else process.exitCode = await runThere([program, ...args]);

async function runThere(argv: readonly string[]): Promise<number> {
  await using scratch = await scratchWithout(join(import.meta.dirname, '../..'), WINGS, {
    withBeds: true,
  });
  const child = spawn(process.execPath, argv, { cwd: scratch.folder, stdio: 'inherit' });
  // It removes what it made; a terminal sends SIGINT to it by itself.
  process.on('SIGINT', () => console.error('Interrupted: waiting for the program to end.'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}
