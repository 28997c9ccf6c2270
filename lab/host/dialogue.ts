import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { LabError } from './errors.ts';

/** A program that answers each line of its input with one line of output. */
export interface Dialogue extends Disposable {
  ask(line: string): Promise<string>;
  /** Ends it at once, without a chance to clean up. */
  kill(): Promise<void>;
}

export function startDialogue(argv: readonly [string, ...string[]]): Dialogue {
  const [command, ...args] = argv;
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: PromiseWithResolvers<string>[] = [];
  let ended: LabError | undefined;
  const fail = (why: string): void => {
    const error = new LabError('LAB_PROCESS_ENDED', `${command} ${why}`, {
      next: 'read its standard error above',
    });
    ended ??= error;
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code) => fail(`exited with code ${code}`));
  child.stdin.on('error', (error) => fail(error.message));
  createInterface(child.stdout).on('line', (line) => waiting.shift()?.resolve(line));
  return {
    async ask(line) {
      if (ended !== undefined) throw ended;
      const answer = Promise.withResolvers<string>();
      waiting.push(answer);
      child.stdin.write(`${line}\n`);
      return await answer.promise;
    },
    async kill() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
    [Symbol.dispose]: () => child.kill(),
  };
}
