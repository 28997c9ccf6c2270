import { isRecord, type JsonRecord } from '../../cluster/json.ts';
import { CommandError } from '../../commands/command-error.ts';
import {
  askProgram,
  type ProgramAnswer,
  type ProgramQuestion,
} from '../../linux/kubectl/ask-program.ts';
import { RunningProgram } from '../../linux/running-program.ts';

/** How one call is made. */
export type KubectlCall = Pick<ProgramQuestion, 'timeoutMs' | 'input' | 'signal' | 'isDetached'>;

/** Calls kubectl with the person's own configuration. */
export interface Kubectl {
  /** Whatever it answers; rejects only where there is no kubectl. */
  ask(args: readonly string[], call: KubectlCall): Promise<ProgramAnswer>;
  /** One that runs until it is stopped. */
  start(args: readonly string[]): RunningProgram;
}

/** Which cluster, as kubectl takes it. */
export interface ClusterChoice {
  readonly context?: string;
  readonly kubeconfig?: string;
}

const KUBECTL = 'kubectl';

export function openKubectl({ context, kubeconfig }: ClusterChoice): Kubectl {
  const common = [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context=${context}`]),
  ];
  return {
    ask: async (args, call) => {
      try {
        return await askProgram({ command: KUBECTL, args: [...common, ...args], ...call });
      } catch (cause) {
        throw new CommandError(`cannot start ${KUBECTL}`, {
          code: 'NO_KUBECTL',
          next: 'install kubectl, and put it on the PATH',
          cause,
        });
      }
    },
    start: (args) => RunningProgram.start(KUBECTL, [...common, ...args]),
  };
}

/** What kubectl prints for `-o json`; throws a CommandError with what it complains of. */
export async function getJson(
  kubectl: Kubectl,
  args: readonly string[],
  call: KubectlCall,
): Promise<JsonRecord> {
  const answer = await kubectl.ask([...args, '-o', 'json'], call);
  if (answer.ended && answer.exitCode === 0) {
    const read: unknown = JSON.parse(answer.stdout);
    if (isRecord(read)) return read;
  }
  throw kubectlFailed(args, answer, call);
}

/** A call that printed no answer, with what kubectl complains of. */
function kubectlFailed(
  args: readonly string[],
  answer: ProgramAnswer,
  { timeoutMs }: KubectlCall,
): CommandError {
  const call = `kubectl ${args.join(' ')}`;
  return new CommandError(`${call}: ${complaintOf(answer, timeoutMs)}`, {
    code: 'KUBECTL_FAILED',
    next: `check that \`${call}\` works, with the same --context and --kubeconfig`,
  });
}

/** Why a call failed, in kubectl's words where it has any. */
export function complaintOf(answer: ProgramAnswer, timeoutMs: number): string {
  if (answer.ended) return lastLine(answer.stderr);
  return answer.why === 'late' ? `no answer within ${timeoutMs / 1000} s` : answer.why;
}

/** The last line that says something: kubectl warns first, and ends with the error. */
function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.at(-1)?.trim() ?? 'no reason given';
}
