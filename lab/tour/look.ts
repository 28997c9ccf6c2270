import { readFile } from 'node:fs/promises';
import { enterNamespace } from '../host/namespaces.ts';
import { run } from '../host/run.ts';

/** Whether something listens on a TCP port there. */
export async function listensOn(namespacePath: string, port: number): Promise<boolean> {
  const argv = enterNamespace(namespacePath, ['ss', '-Hltn', `sport = :${port}`]);
  return (await run(argv)).trim() !== '';
}

/** What a program has written so far; undefined: nothing. */
export async function readLog(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8');
  return text === '' ? undefined : text;
}
