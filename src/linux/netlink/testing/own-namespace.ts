import { spawnSync } from 'node:child_process';
import koffi from 'koffi';

const CLONE_NEWNS = 0x2_0000;
const CLONE_NEWNET = 0x4000_0000;
const DEADLINE_MS = 20_000;

/**
 * Moves the main thread of a test file into its own network namespace: sockets that it creates,
 * files of /proc/sys that it opens synchronously and programs that it starts are in there. The
 * namespace has no name and ends with the process, so nothing is left behind.
 */
export function enterOwnNetwork(): void {
  unshare(CLONE_NEWNET);
  ip('link set lo up');
}

/** The same with its own mount namespace: later mounts are visible to this process only. */
export function enterOwnMounts(): void {
  unshare(CLONE_NEWNS);
  run(['mount', '--make-rprivate', '/']);
}

/** Runs lines of `ip -batch` and blocks the event loop meanwhile: nothing is received. */
export function ip(...lines: readonly string[]): void {
  run(['ip', '-batch', '-'], `${lines.join('\n')}\n`);
}

/** Runs a program to its end; it must succeed. */
export function run(argv: readonly [string, ...string[]], input = ''): string {
  const [command, ...args] = argv;
  const options = { input, encoding: 'utf8', timeout: DEADLINE_MS } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return stdout;
  throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`, { cause: error });
}

function unshare(what: number): void {
  const call = koffi.load('libc.so.6').func('int unshare(int what)');
  if (call(what) !== 0) throw new Error(`unshare failed with errno ${koffi.errno()}`);
}
