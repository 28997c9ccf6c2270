import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LabError } from '../host/errors.ts';
import { runKillable } from '../host/run-killable.ts';
import { takeProcessor } from './processor.ts';

const INIT = join(import.meta.dirname, 'init.sh');
/** Pages are taken from the host when the guest touches them. */
const MEMORY = '8G';
/** Where its memory is: a file on a disk would be written back all the time. */
const MEMORY_FOLDER = '/dev/shm';

export interface GuestCommand {
  /** Path of the User-mode Linux. */
  readonly kernel: string;
  readonly argv: readonly [string, ...string[]];
  /** Files that are copied out when the command has ended, also when it failed. */
  readonly outputs?: readonly string[];
  /** The command gets the terminal of this process. */
  readonly terminal?: true;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a command in a guest whose root is this machine's, under a memory layer that is discarded at
 * the end. Output goes where this process's output goes; gives the command's exit code.
 */
export async function runInGuest(command: GuestCommand): Promise<number> {
  const outputs = (command.outputs ?? []).map((path) => resolve(path));
  const share = await mkdtemp('/var/tmp/fairlead-guest-');
  try {
    await writeFile(join(share, 'guest'), guestScript(command.argv, { outputs, share }));
    if (command.terminal) await writeFile(join(share, 'terminal'), '');
    await boot(share, command);
    for (const [index, path] of outputs.entries()) {
      const copy = join(share, `output-${index}`);
      if (existsSync(copy)) await cp(copy, path, { recursive: true });
    }
    return await readExitCode(share);
  } finally {
    await rm(share, { recursive: true, force: true });
  }
}

function guestScript(
  argv: readonly string[],
  of: { readonly outputs: readonly string[]; readonly share: string },
): string {
  const kept = ['HOME', 'PATH', 'TERM', 'LANG', 'NO_COLOR', 'CI', 'FAIRLEAD_CACHE'];
  const set = kept.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [`export ${name}=${quoted(value)}`];
  });
  const copies = of.outputs.map(
    (path, index) => `[ -e ${quoted(path)} ] && cp -r ${quoted(path)} ${of.share}/output-${index}`,
  );
  return [
    ...set,
    `cd ${quoted(process.cwd())}`,
    argv.map(quoted).join(' '),
    'code=$?',
    ...copies,
    'exit $code\n',
  ].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function boot(share: string, command: GuestCommand): Promise<void> {
  const isShell = command.terminal === true;
  const consoles = isShell ? ['con0=fd:0,fd:1'] : ['con0=null,fd:1', 'con1=null,fd:2'];
  using processor = await takeProcessor();
  const kernel = [
    command.kernel,
    `mem=${MEMORY}`,
    ...['root=none', 'rootfstype=hostfs', 'rootflags=/', 'ro', 'quiet'],
    `init=${INIT}`,
    `share=${share}`,
    ...consoles,
    'con=null',
  ] as const;
  const onOne = ['taskset', '--cpu-list', `${processor?.index}`] as const;
  const argv = processor === undefined ? kernel : ([...onOne, ...kernel] as const);
  const { deadlineMs, signal } = command;
  const input = isShell ? 'terminal' : 'none';
  const env = { TMPDIR: MEMORY_FOLDER };
  const isEnded = await runKillable(argv, { env, input, deadlineMs, signal });
  signal?.throwIfAborted();
  if (isEnded) return;
  throw new LabError('LAB_COMMAND_TIMED_OUT', `the guest did not end within ${deadlineMs} ms`, {
    next: 'ask for less at once, or give it more time with --minutes',
  });
}

async function readExitCode(share: string): Promise<number> {
  const file = join(share, 'exit-code');
  if (!existsSync(file)) {
    throw new LabError('LAB_PROCESS_ENDED', 'the guest ended before its command', {
      next: 'run it again, and look at what the kernel said before it ended',
    });
  }
  return Number(await readFile(file, 'utf8'));
}
