import type { Progress } from '../host/progress.ts';
import { startOutsider } from '../systemd/outsider.ts';
import { type Step, walk } from '../systemd/stranger.ts';

/**
 * `lab stranger`: a machine with systemd beside a new cluster, and what a person types on it until a
 * Service answers by its name, with the time that each command takes. Removes both again.
 */
export async function stranger(context: {
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}): Promise<string> {
  await using outsider = await startOutsider(context);
  const { machine } = outsider;
  const system = await machine.run(['sh', '-c', '. /etc/os-release; echo "$PRETTY_NAME"']);
  const systemd = await machine.run(['sh', '-c', 'resolvectl --version | head -n 1']);
  const steps = await walk(outsider);
  const total = steps.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    `On ${system.trim()}, ${systemd.trim()}, as root:`,
    ...steps.map(stepText),
    `${steps.length} commands, ${seconds(total)}`,
  ].join('\n\n');
}

function stepText({ command, durationMs, output }: Step): string {
  return `$ ${command}     # ${seconds(durationMs)}\n${output}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
