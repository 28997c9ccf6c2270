import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../lab/host/errors.ts';
import { enterNamespace } from '../lab/host/namespaces.ts';
import { tryRun } from '../lab/host/run.ts';
import type { TestParts } from '../lab/parts/real.ts';
import type { RealCluster } from '../lab/real/cluster.ts';
import { type EndedSpec, readGinkgoProgress } from './ginkgo-output.ts';
import { readGinkgoReport } from './ginkgo-report.ts';
import type { SpecResult } from './result.ts';
import { DISRUPTIVE, LEFT_OUT } from './specs.ts';

export interface SpecRun {
  readonly cluster: RealCluster;
  readonly tests: TestParts;
  readonly focus: string;
  readonly processes: number;
  /** Where Ginkgo's output and report go. */
  readonly folder: string;
  readonly onEnd: (spec: EndedSpec) => void;
  readonly signal?: AbortSignal | undefined;
}

const RUN_DEADLINE_MS = 60 * 60_000;

/** Runs the chosen specs side by side, then those that disturb others one after the other. */
export async function runSpecs(run: SpecRun): Promise<SpecResult[]> {
  await mkdir(run.folder, { recursive: true });
  const leftOut = LEFT_OUT.map(({ pattern }) => pattern);
  const together = await runOnce(run, {
    name: 'together',
    focus: run.focus,
    skip: [...leftOut, DISRUPTIVE].join('|'),
    processes: run.processes,
  });
  const alone = await runOnce(run, {
    name: 'alone',
    focus: `(${run.focus}).*${DISRUPTIVE}`,
    skip: leftOut.join('|'),
    processes: 1,
  });
  return [...together, ...alone];
}

interface Pass {
  readonly name: string;
  readonly focus: string;
  readonly skip: string;
  readonly processes: number;
}

async function runOnce(run: SpecRun, pass: Pass): Promise<SpecResult[]> {
  const report = `${pass.name}.json`;
  const progress = readGinkgoProgress(run.onEnd);
  const log = createWriteStream(join(run.folder, `${pass.name}.txt`));
  const result = await tryRun(ginkgoCommand(run, pass, report), {
    deadlineMs: RUN_DEADLINE_MS,
    signal: run.signal,
    onStdout: (text) => {
      log.write(text);
      progress.read(text);
    },
  });
  await new Promise<void>((resolve) => log.end(resolve));
  return await readGinkgoReport(join(run.folder, report)).catch((cause: unknown) => {
    throw new LabError(
      'LAB_COMMAND_FAILED',
      `ginkgo exited with code ${result.exitCode} and wrote no report`,
      {
        next: `read ${join(run.folder, `${pass.name}.txt`)}`,
        cause,
      },
    );
  });
}

function ginkgoCommand(run: SpecRun, pass: Pass, report: string): [string, ...string[]] {
  const { cluster, tests } = run;
  return enterNamespace(cluster.fabricPath, [
    tests.ginkgo,
    '-v',
    '--no-color',
    `--procs=${pass.processes}`,
    `--timeout=${RUN_DEADLINE_MS / 60_000}m`,
    `--focus=${pass.focus}`,
    `--skip=${pass.skip}`,
    `--output-dir=${run.folder}`,
    `--json-report=${report}`,
    tests['e2e.test'],
    '--',
    '--provider=skeleton',
    `--kubeconfig=${cluster.credentials.adminKubeconfig}`,
    `--kubectl-path=${cluster.parts.kubectl}`,
    `--num-nodes=${cluster.nodeCount}`,
    '--allowed-not-ready-nodes=0',
  ]);
}
