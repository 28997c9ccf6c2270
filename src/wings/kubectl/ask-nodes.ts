import type { NodeAgent } from './agents.ts';
import type { Kubectl } from './kubectl.ts';

/** What one node said, or why it said nothing. */
export type NodeAnswer<T> =
  | { readonly node: string; readonly answers: true; readonly said: T }
  | { readonly node: string; readonly answers: false; readonly why: string };

export interface NodeQuestion<T> {
  /** Of `fairlead` in the pod. */
  readonly args: readonly string[];
  /** For its standard input. */
  readonly input?: string;
  /** For each node. */
  readonly timeoutMs: number;
  /** Throws an Error where this is no answer. */
  readonly read: (said: { readonly stdout: string; readonly exitCode: number }) => T;
}

/** Each is a process of kubectl, of about 50 MB. */
const AT_ONCE = 16;

/** Asks all nodes side by side, each with its own deadline; the answers are in the order of the nodes. */
export async function askNodes<T>(
  kubectl: Kubectl,
  agents: readonly NodeAgent[],
  question: NodeQuestion<T>,
): Promise<NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = [];
  const waiting = agents.entries();
  // They share one iterator: each takes the next node that no other has.
  const askSome = async (): Promise<void> => {
    for (const [index, agent] of waiting) answers[index] = await askNode(kubectl, agent, question);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askSome));
  return answers;
}

async function askNode<T>(
  kubectl: Kubectl,
  { node, pod, why = '' }: NodeAgent,
  { args, input, timeoutMs, read }: NodeQuestion<T>,
): Promise<NodeAnswer<T>> {
  const silent = (reason: string): NodeAnswer<T> => ({ node, answers: false, why: reason });
  if (pod === undefined) return silent(why);
  const { namespace, name, container } = pod;
  const stdin = input === undefined ? [] : ['-i'];
  const exec = ['exec', ...stdin, '-n', namespace, name, '-c', container, '--', 'fairlead'];
  const of = { timeoutMs, ...(input === undefined ? {} : { input }) };
  const answer = await kubectl.ask([...exec, ...args], of);
  if (!answer.ended) {
    return silent(answer.why === 'late' ? `no answer within ${timeoutMs / 1000} s` : answer.why);
  }
  try {
    return { node, answers: true, said: read(answer) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return silent(complaintIn(answer.stderr) ?? error.message);
  }
}

/** Lines that say nothing of a failure: warnings, where an answer comes from, kubectl's exit code. */
const NO_COMPLAINT = /^(warning: |from |Defaulted container|command terminated with exit code)/;

/** The first line of the error: what to do follows it. */
function complaintIn(stderr: string): string | undefined {
  const lines = stderr.split('\n').map((line) => line.trim());
  return lines.find((line) => line !== '' && !NO_COMPLAINT.test(line));
}
