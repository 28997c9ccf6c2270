import { enterNamespace } from '../../lab/host/namespaces.ts';
import { run } from '../../lab/host/run.ts';
import type { DataMode } from '../record.ts';

/** What the client says when it is done; see lab/parts/bench/ask.go. */
export interface Asked {
  readonly seconds: number;
  readonly count: number;
  readonly failed: number;
  readonly cpuSeconds: number;
  readonly p50Us?: number;
  readonly p99Us?: number;
}

export interface Question {
  readonly mode: DataMode;
  readonly to: string;
  readonly durationMs: number;
  readonly workers: number;
}

/** The program, and the network that it asks from. */
export interface Client {
  readonly program: string;
  readonly clientPath: string;
}

const GRACE_MS = 10_000;

export async function ask(client: Client, question: Question): Promise<Asked> {
  const argv: [string, ...string[]] = [
    client.program,
    'ask',
    `--mode=${question.mode}`,
    `--to=${question.to}`,
    `--for=${question.durationMs}ms`,
    `--workers=${question.workers}`,
  ];
  const output = await run(enterNamespace(client.clientPath, argv), {
    deadlineMs: question.durationMs + GRACE_MS,
  });
  return JSON.parse(output) as Asked;
}
