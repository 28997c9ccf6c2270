import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { silentProgress } from '../../../lab/host/progress.ts';
import { type RunResult, tryRun } from '../../../lab/host/run.ts';
import type { Lab } from '../../../lab/lab.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';

const ROOT = join(import.meta.dirname, '../../..');
const NODE = 'node1';
const DEADLINE_MS = 60_000;

/** A person at a shell of the node, with kubectl and a kubeconfig of their own. */
export class ZeroDesk {
  readonly #lab: Lab;
  readonly #path: string;

  constructor(lab: Lab) {
    this.#lab = lab;
    this.#path = join(lab.folder, 'zero-desk');
  }

  async open(): Promise<void> {
    const { credentials } = this.#lab;
    const kubectl = join(this.#path, 'kubectl');
    const program = await provideTool('kubectl', { progress: silentProgress });
    const argv = `${program} --kubeconfig=${credentials.adminKubeconfig}`;
    await mkdir(this.#path);
    await writeFile(kubectl, `#!/bin/sh\nexec ${argv} "$@"\n`);
    await chmod(kubectl, 0o755);
  }

  async explain(
    args: readonly string[],
    kubeconfig = this.#lab.credentials.adminKubeconfig,
  ): Promise<{ readonly explanation: Explanation; readonly exitCode: number }> {
    const { exitCode, stdout, stderr } = await this.text([...args, '-o', 'json'], kubeconfig);
    if (stdout === '') throw new Error(stderr);
    return { explanation: JSON.parse(stdout) as Explanation, exitCode };
  }

  async text(
    args: readonly string[],
    kubeconfig = this.#lab.credentials.adminKubeconfig,
  ): Promise<RunResult> {
    const run = join(this.#lab.folder, 'proxies', NODE, 'run');
    const main = join(ROOT, 'src/main.ts');
    const argv = [process.execPath, main, 'explain', `--run-folder=${run}`, ...args];
    const env = { KUBECONFIG: kubeconfig, NO_COLOR: '1', NODE_NO_WARNINGS: '1' };
    return await tryRun(this.#onNode(argv), { env, deadlineMs: DEADLINE_MS });
  }

  /** A line of `next`, typed. */
  async type(line: string): Promise<RunResult> {
    const env = { PATH: [this.#path, process.env['PATH'] ?? ''].join(delimiter) };
    return await tryRun(this.#onNode(['sh', '-c', line]), { env, deadlineMs: DEADLINE_MS });
  }

  #onNode(argv: readonly string[]): [string, ...string[]] {
    return enterNamespace(this.#lab.namespacePath(NODE), argv as [string, ...string[]]);
  }
}
