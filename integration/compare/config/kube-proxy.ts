import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { tryRun } from '../../../lab/host/run.ts';

/** kube-proxy's reading of a file: the configuration it writes, or that it rejects the file. */
export type Verdict = { readonly written: unknown } | 'rejected';

export interface Asking {
  /** The path of kube-proxy. */
  readonly program: string;
  readonly folder: string;
}

export async function askKubeProxy(text: string, { program, folder }: Asking): Promise<Verdict> {
  const given = join(folder, 'given.yaml');
  const written = join(folder, 'written.yaml');
  await writeFile(given, text);
  await rm(written, { force: true });
  const argv = [program, '--config', given, '--write-config-to', written] as const;
  const { exitCode, stderr } = await tryRun(argv);
  if (exitCode === 0) return { written: parse(await readFile(written, 'utf8')) as unknown };
  // A crash is no answer.
  if (exitCode !== 1) throw new Error(`kube-proxy ended with ${exitCode}: ${stderr}`);
  return 'rejected';
}
