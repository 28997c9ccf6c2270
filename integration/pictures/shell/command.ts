import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { run } from '../../../lab/host/run.ts';
import { startLaptop } from '../../tests/shell/laptop.ts';
import { terminalSvg } from '../terminal-svg.ts';

const OBJECTS = join(import.meta.dirname, '../../tests/shell/objects.yaml');
const COLUMNS = 80;
const DEADLINE_MS = 120_000;

/** Typed in the shell, one after the other. */
const TYPED = [
  'id -un',
  'getent hosts web',
  'curl -s http://web/hostname',
  'curl -s http://web/hostname',
  'curl -s http://web.default.svc.cluster.local/hostname',
  'exit',
] as const;

export const command = new Command()
  .option(
    '--picture <path>',
    'the picture',
    fileURLToPath(new URL('../../../docs/pictures/shell.svg', import.meta.url)),
  )
  .action(drawShell);

async function drawShell({ picture }: { picture: string }): Promise<void> {
  await using laptop = await startLaptop({ objects: OBJECTS, deployments: ['web'] });
  const argv = laptop.shell(['sh', '-c', script()]);
  const lines = (await run(argv, { deadlineMs: DEADLINE_MS })).trimEnd().split('\n');
  console.log(lines.join('\n'));
  const typed = 'fairlead shell --namespaces default';
  const title = `${typed}: a user without rights reaches a Service of the cluster by its name`;
  await writeFile(picture, terminalSvg({ title, command: typed, lines, columns: COLUMNS }));
}

/** Prints each command behind a prompt, and runs it; a line of output ends in a line end. */
function script(): string {
  return TYPED.map((line) => `printf '\\033[2m$\\033[0m %s\\n' '${line}'; ${shown(line)}`).join(
    '\n',
  );
}

function shown(line: string): string {
  return line.startsWith('curl') ? `${line}; echo` : line;
}
