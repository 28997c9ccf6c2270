import { closeSync, existsSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import koffi from 'koffi';

/**
 * A program that a test starts as nobody. In a folder that everybody can write to, it leaves what
 * looks like the folder of a shell that died, and swaps it for a link while it is being deleted.
 * Arguments: the shared folder, and the folder that the link leads to. Prints what it did.
 */
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
const FILES = 4_000;
const DEADLINE_MS = 5_000;

const renameat2: (
  fromFolder: number,
  from: string,
  toFolder: number,
  to: string,
  flags: number,
) => number = koffi
  .load('libc.so.6')
  .func('int renameat2(int oldfd, str old, int newfd, str new, unsigned int flags)');

const [shared = '', victim = ''] = process.argv.slice(2);
const bait = join(shared, 'fairlead-shell-99999999-x');
const inner = join(bait, 'inner');
mkdirSync(inner, { recursive: true });
for (let index = 0; index < FILES; index++) {
  closeSync(openSync(join(inner, `f${index}`), 'w'));
}
closeSync(openSync(join(inner, 'precious'), 'w'));
const link = join(shared, 'link');
symlinkSync(victim, link);
const watched = Array.from({ length: FILES / 40 }, (_, index) => join(inner, `f${index * 40}`));
process.stdout.write('ready\n');

const deadline = performance.now() + DEADLINE_MS;
while (performance.now() < deadline) {
  if (!existsSync(join(shared, 'go'))) continue;
  if (watched.every((path) => existsSync(path))) {
    if (existsSync(join(shared, 'over'))) break;
    continue;
  }
  renameat2(AT_FDCWD, inner, AT_FDCWD, link, RENAME_EXCHANGE);
  process.stdout.write('swapped\n');
  break;
}
