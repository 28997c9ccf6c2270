import { type Outsider, WEB_NAME, WEB_POD } from './outsider.ts';

/** One command of the path, as a person types it. */
export interface Step {
  readonly command: string;
  readonly durationMs: number;
  readonly output: string;
}

/** From an administrator's kubeconfig to a Service by its name. */
const COMMANDS: readonly string[] = [
  'fairlead outside init --apply',
  'fairlead outside dns apply',
  `curl -sS --max-time 10 http://${WEB_NAME}/hostname`,
];
/** What the last one prints. */
export const LAST_OUTPUT = WEB_POD;
const STEP_DEADLINE_MS = 120_000;

/** Fails when a command does. */
export async function walk({ machine }: Outsider): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const command of COMMANDS) {
    const startedAt = performance.now();
    // Notes of the commands go to standard error, and belong to what a person sees.
    const output = await machine.run(['sh', '-c', `${command} 2>&1`], {
      deadlineMs: STEP_DEADLINE_MS,
    });
    steps.push({ command, durationMs: performance.now() - startedAt, output: output.trimEnd() });
  }
  return steps;
}
