import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import type { DataMode } from '../record.ts';

/** What the client says when it is done; see lab/parts/bench/ask.go. */
export interface Asked {
  readonly to: AskedSide;
  readonly beside: AskedSide;
}

export interface AskedSide {
  /** Those of the same index in both sides ran one right after the other. */
  readonly slices: readonly Slice[];
  readonly p50Us?: number;
  readonly p99Us?: number;
}

export interface Slice {
  readonly seconds: number;
  readonly count: number;
  readonly failed: number;
  readonly cpuSeconds: number;
}

export interface Question {
  readonly mode: DataMode;
  readonly to: string;
  readonly beside: string;
  /** Turns of each of the two. */
  readonly pairs: number;
  readonly sliceMs: number;
  readonly workers: number;
}

/** The program, and where it asks from. */
export interface Client {
  readonly program: string;
  readonly clientPath: string;
  /** The control group that its sockets are made in. */
  readonly cgroupPath: string | undefined;
  /** The only CPU that it runs on. */
  readonly cpu: number;
  /** Processes whose CPU time is counted with its own. */
  readonly helpers: readonly number[];
}

const GRACE_MS = 20_000;

export async function ask(client: Client, question: Question): Promise<Asked> {
  const argv: [string, ...string[]] = [
    client.program,
    'ask',
    `--mode=${question.mode}`,
    `--to=${question.to}`,
    `--beside=${question.beside}`,
    `--pairs=${question.pairs}`,
    `--slice=${question.sliceMs}ms`,
    `--workers=${question.workers}`,
    `--count-cpu-of=${client.helpers.join(',')}`,
    ...(client.cgroupPath === undefined ? [] : [`--cgroup=${client.cgroupPath}`]),
  ];
  const output = await run(enterNamespace(client.clientPath, onCpu(client.cpu, argv)), {
    deadlineMs: 2 * question.pairs * question.sliceMs + GRACE_MS,
  });
  return JSON.parse(output) as Asked;
}

export function onCpu(cpu: number, argv: readonly string[]): [string, ...string[]] {
  return ['taskset', '-c', String(cpu), ...argv];
}
