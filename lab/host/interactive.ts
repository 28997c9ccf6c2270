import { spawn } from 'node:child_process';

/** Runs a command with the terminal of this one; gives its exit code. */
export async function runInteractive(argv: readonly [string, ...string[]]): Promise<number> {
  const [command, ...args] = argv;
  return await new Promise<number>((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
