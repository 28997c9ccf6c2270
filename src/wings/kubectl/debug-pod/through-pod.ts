import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { printNote, printWarning } from '../../../commands/terminal/print.ts';
import type { ProofNeeds } from '../../../explain/proof/proof.ts';
import { isAlive } from '../../../linux/is-alive.ts';
import { sleep } from '../../../time/sleep.ts';
import type { NodeAgent } from '../agents.ts';
import { complaintOf, getJson, type Kubectl } from '../kubectl.ts';
import {
  CREATE,
  enforcedStandard,
  missingRights,
  type Right,
  rightText,
} from '../kubectl-rights.ts';
import {
  CONTAINER,
  type DebugPod,
  debugPod,
  debugPodText,
  OWNER_ANNOTATION,
  POD_LABEL,
} from './pod-spec.ts';
import { podState } from './pod-state.ts';

/** Why there is no debug pod, for people; `code` for programs. */
export interface NoDebugPod {
  readonly code:
    | 'DEBUG_POD_OPTED_OUT'
    | 'DEBUG_POD_FORBIDDEN'
    | 'DEBUG_POD_CANNOT_ASK'
    | 'DEBUG_POD_REJECTED'
    | 'DEBUG_POD_NOT_STARTED'
    | 'DEBUG_POD_SILENT';
  readonly why: string;
  readonly next: string;
}

export type Through<T> =
  | { readonly pod: string; readonly isDeleted: boolean; readonly result: T | NoDebugPod }
  | { readonly pod?: undefined; readonly result: NoDebugPod };

export interface DebugPodCall<T> {
  readonly agent: { readonly node: string; readonly pod: NonNullable<NodeAgent['pod']> };
  readonly needs: ProofNeeds;
  /** For each call of kubectl, and for the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Asks in the pod, which runs. */
  readonly ask: (pod: NonNullable<NodeAgent['pod']>) => Promise<T | NoDebugPod>;
}

/** Pulling an image that the node has takes none of it. */
const START_MS = 60_000;
const POLL_MS = 500;
const QUIET_MS = 1_000;
const DELETE_SECONDS = 20;
const DELETE_MS = 30_000;
const MS_PER_SECOND = 1_000;
const NAME_BYTES = 4;

/** Creates a debug pod beside the agent, asks in it, and deletes it whatever happens. */
export async function throughDebugPod<T>(
  kubectl: Kubectl,
  call: DebugPodCall<T>,
): Promise<Through<T>> {
  const { agent, needs, timeoutMs, signal } = call;
  const { namespace, name: agentPod, container } = agent.pod;
  const missing = await missingRights(kubectl, { rights: neededRights(namespace), timeoutMs });
  if (missing.length > 0) return { result: forbidden(missing) };
  await deleteForgotten(kubectl, namespace, timeoutMs);
  const raw = await getJson(kubectl, ['get', 'pod', '-n', namespace, agentPod], { timeoutMs });
  const pod = debugPod({
    name: `fairlead-explain-${randomBytes(NAME_BYTES).toString('hex')}`,
    namespace,
    node: agent.node,
    needs,
    deadlineSeconds: Math.ceil((START_MS + DELETE_MS + timeoutMs) / MS_PER_SECOND),
    agentPod: raw,
    agentContainer: container,
  });
  if (pod === undefined) return { result: cannotAsk(agentPod) };
  printNote(debugPodText(pod, needs));
  const { name } = pod.metadata;
  const use = async (): Promise<T | NoDebugPod> =>
    (await create(kubectl, pod, { timeoutMs, signal })) ??
    (await untilRunning(kubectl, pod, { timeoutMs, signal })) ??
    (await call.ask({ namespace, name, container: CONTAINER }));
  let isDeleted: boolean;
  let result: T | NoDebugPod;
  try {
    result = await use();
  } finally {
    isDeleted = await deletePod(kubectl, pod);
  }
  return { pod: name, isDeleted, result };
}

function neededRights(namespace: string): readonly Right[] {
  return [
    { verb: 'create', resource: 'pods', namespace },
    { verb: 'get', resource: 'pods', namespace },
    { verb: 'delete', resource: 'pods', namespace },
    { verb: 'create', resource: 'pods', subresource: 'exec', namespace },
  ];
}

async function deleteForgotten(
  kubectl: Kubectl,
  namespace: string,
  timeoutMs: number,
): Promise<void> {
  for (const name of await forgottenPods(kubectl, { namespace, timeoutMs })) {
    printNote(`deleting pod ${namespace}/${name}, which an earlier run left behind`);
    await deletePod(kubectl, { metadata: { namespace, name } });
  }
}

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Undefined: it is created. */
async function create(
  kubectl: Kubectl,
  pod: DebugPod,
  { timeoutMs, signal }: Limits,
): Promise<NoDebugPod | undefined> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod });
  const answer = await kubectl.ask(CREATE, { timeoutMs, input, signal });
  if (answer.ended && answer.exitCode === 0) return undefined;
  const { namespace } = pod.metadata;
  const standard = await enforcedStandard(kubectl, namespace, timeoutMs);
  const complaint = complaintOf(answer, timeoutMs);
  const by =
    standard === undefined
      ? 'the API server'
      : `Pod Security (namespace ${namespace} enforces ${standard})`;
  return {
    code: 'DEBUG_POD_REJECTED',
    why: `${by} rejects the pod: ${complaint}`,
    next: 'allow it in that namespace, or prove it as root on the node: fairlead explain',
  };
}

/** Undefined: it runs. */
async function untilRunning(
  kubectl: Kubectl,
  { metadata: { namespace, name }, spec }: DebugPod,
  { timeoutMs, signal }: Limits,
): Promise<NoDebugPod | undefined> {
  const startedMs = performance.now();
  const next = `kubectl describe node ${spec.nodeName}`;
  let told = '';
  for (;;) {
    const args = ['get', 'pod', '-n', namespace, name];
    const state = podState(await getJson(kubectl, args, { timeoutMs, signal }));
    if (state.is === 'running') return undefined;
    const passedMs = performance.now() - startedMs;
    if (state.is === 'failed') {
      return { code: 'DEBUG_POD_NOT_STARTED', why: `the pod does not run: ${state.why}`, next };
    }
    if (passedMs >= START_MS || signal.aborted) {
      const why = `the pod does not run after ${START_MS / MS_PER_SECOND} s: ${state.why}`;
      return { code: 'DEBUG_POD_NOT_STARTED', why, next };
    }
    if (passedMs >= QUIET_MS && state.why !== told) {
      told = state.why;
      printNote(`waiting for pod ${name}: ${told}`);
    }
    await sleep(POLL_MS, signal);
  }
}

/** Also after Ctrl-C, which must not end the kubectl that deletes. */
async function deletePod(
  kubectl: Kubectl,
  { metadata: { namespace, name } }: { readonly metadata: { namespace: string; name: string } },
): Promise<boolean> {
  const remove = ['delete', 'pod', '-n', namespace, name];
  const how = ['--ignore-not-found', '--wait', `--timeout=${DELETE_SECONDS}s`];
  const answer = await kubectl.ask([...remove, ...how], { timeoutMs: DELETE_MS, isDetached: true });
  if (answer.ended && answer.exitCode === 0) return true;
  printWarning(
    `pod ${namespace}/${name} is not deleted (${complaintOf(answer, DELETE_MS)}); the next run deletes it, or: kubectl ${remove.join(' ')}`,
  );
  return false;
}

function forbidden(missing: readonly Right[]): NoDebugPod {
  return {
    code: 'DEBUG_POD_FORBIDDEN',
    why: `you may not ${missing.map(rightText).join(', nor ')}`,
    next: 'ask for these rights, or prove it as root on the node: fairlead explain',
  };
}

function cannotAsk(agentPod: string): NoDebugPod {
  return {
    code: 'DEBUG_POD_CANNOT_ASK',
    why: `pod ${agentPod} keeps /run/fairlead inside of its container, so that no other pod can ask its agent`,
    next: 'mount /run/fairlead of the node, as deploy/manifests/daemonset.yaml does',
  };
}

export function isNoDebugPod<T extends object>(result: T | NoDebugPod): result is NoDebugPod {
  return 'code' in result && 'next' in result;
}

/** For the JSON of the command. */
export function throughData<T extends object>(through: Through<T>): JsonRecord {
  const { pod, result } = through;
  const failed = isNoDebugPod(result) ? { ...result } : {};
  return pod === undefined ? failed : { pod, isDeleted: through.isDeleted, ...failed };
}

/** Phases of pods whose containers have ended, as after their deadline. */
const ENDED: ReadonlySet<string> = new Set(['Failed', 'Succeeded']);

/**
 * Names of debug pods that nobody deletes any more: they have ended, or the process of this machine
 * that made them has. One that another machine made may be in use until its deadline ends it.
 */
async function forgottenPods(
  kubectl: Kubectl,
  { namespace, timeoutMs }: { readonly namespace: string; readonly timeoutMs: number },
): Promise<readonly string[]> {
  const selector = `${POD_LABEL.key}=${POD_LABEL.value}`;
  const list = await getJson(kubectl, ['get', 'pods', '-n', namespace, '-l', selector], {
    timeoutMs,
  });
  return arrayAt(list, 'items')
    .filter(isRecord)
    .filter((pod) => isForgotten(pod, { host: hostname(), isAlive }))
    .map((pod) => textAt(recordAt(pod, 'metadata'), 'name'))
    .toSorted();
}

export function isForgotten(
  pod: JsonRecord,
  here: { readonly host: string; readonly isAlive: (pid: number) => boolean },
): boolean {
  if (ENDED.has(textAt(recordAt(pod, 'status'), 'phase'))) return true;
  const owner = textAt(recordAt(recordAt(pod, 'metadata'), 'annotations'), OWNER_ANNOTATION);
  const [, host, pid] = /^(.+)\/([1-9]\d{0,8})$/.exec(owner) ?? [];
  return host === here.host && !here.isAlive(Number(pid));
}
