import type { Condition, ContainerState, ContainerThere, PodThere } from './surroundings.ts';

/** Why a pod serves nobody. */
export interface PodTrouble {
  /** Ends the sentence that begins with its name. */
  readonly text: string;
  /** Words for kubectl that show more. */
  readonly next: readonly string[];
}

/** Undefined: it is ready. */
export function podTrouble(pod: PodThere): PodTrouble | undefined {
  const text = ofPod(pod);
  if (text !== undefined) return { text, next: describe(pod) };
  const found = ofContainers(pod);
  if (found !== undefined) return found;
  const rest = ofReadiness(pod);
  return rest === undefined ? undefined : { text: rest, next: describe(pod) };
}

function ofPod({ isTerminating, phase, reason, conditions }: PodThere): string | undefined {
  if (isTerminating) return 'is terminating';
  if (phase === '') return 'has no status in these manifests';
  if (phase === 'Succeeded') return 'has ended';
  if (phase === 'Failed') return `has failed${reason === '' ? '' : ` (${reason})`}`;
  const scheduled = conditionOf(conditions, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  return `is not scheduled: ${scheduled.message || scheduled.reason}`;
}

/** Reasons of waiting that say nothing yet. */
const USUAL: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', '']);

function ofContainers(pod: PodThere): PodTrouble | undefined {
  const init = pod.containers.filter(({ isInit, isReady }) => isInit && !isReady);
  const own = pod.containers.filter(({ isInit, isReady }) => !isInit && !isReady);
  for (const container of [...init, ...own]) {
    const { state } = container;
    if (state === undefined) continue;
    const text = stateText(container, state);
    if (text !== undefined) return { text, next: nextOf(pod, container, state) };
  }
  const isCreated = pod.containers.some(
    ({ state }) => state !== undefined && state.is !== 'waiting',
  );
  if (isCreated || pod.phase !== 'Pending') return undefined;
  return { text: 'waits for its containers to be created', next: describe(pod) };
}

function stateText(container: ContainerThere, state: ContainerState): string | undefined {
  const { name, isInit, before, startupProbe, readinessProbe, isStarted } = container;
  const what = `${isInit ? 'init container' : 'container'} ${name}`;
  if (state.is === 'waiting') {
    if (USUAL.has(state.reason)) return undefined;
    const why = before === undefined ? state.message : `last time it ${endText(before)}`;
    return `waits for ${what}: ${state.reason}${why === '' ? '' : `, ${why}`}`;
  }
  if (state.is === 'terminated') return `waits for ${what}, which ${endText(state)}`;
  if (isInit) return `waits for ${what}, which still runs`;
  if (!isStarted && startupProbe !== '') {
    return `runs, but the startup probe of ${what} (${startupProbe}) has not succeeded`;
  }
  if (readinessProbe === '') return undefined;
  return `runs, but the readiness probe of ${what} (${readinessProbe}) does not succeed`;
}

function endText({ reason, exitCode }: ContainerState): string {
  return `ended with exit code ${exitCode}${reason === '' ? '' : ` (${reason})`}`;
}

function nextOf(pod: PodThere, { name, before }: ContainerThere, state: ContainerState) {
  if (state.is === 'terminated') return ['logs', pod.name, '-c', name];
  return before !== undefined && state.is === 'waiting'
    ? ['logs', pod.name, '-c', name, '--previous']
    : describe(pod);
}

function ofReadiness({
  conditions,
  containers,
  addresses,
  nodeName,
}: PodThere): string | undefined {
  const ready = conditionOf(conditions, 'Ready');
  if (ready !== undefined && ready.status !== 'True') {
    const areContainersReady = containers.every(({ isReady, isInit }) => isReady || isInit);
    // The node lifecycle controller marks the pods of a node that has gone silent.
    if (ready.reason === '' && areContainersReady && nodeName !== '') {
      return `was ready, and its node ${nodeName} does not report any more`;
    }
    const why = [ready.reason, ready.message].filter(Boolean).join(': ');
    return `is not ready${why === '' ? '' : `: ${why}`}`;
  }
  return addresses.length === 0 ? 'has no IP address yet' : undefined;
}

function conditionOf(conditions: readonly Condition[], wanted: string): Condition | undefined {
  return conditions.find(({ type }) => type === wanted);
}

function describe({ name }: PodThere): string[] {
  return ['describe', 'pod', name];
}
