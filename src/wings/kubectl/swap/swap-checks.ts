import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../../cluster/json.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import type { NodeAgent } from '../agents.ts';
import { askNodes } from '../ask-nodes.ts';
import type { Kubectl } from '../kubectl.ts';
import { listSaid, recordSaid, saidBoolean } from '../said.ts';
import {
  type Asking,
  type DaemonSetName,
  hasInitialised,
  hindranceOf,
  NAMESPACE,
  nodeOf,
  readDaemonSet,
  readPods,
  rolloutOf,
} from './daemon-sets.ts';
import { podSpecOf } from './manifests.ts';
import type { StepCheck } from './step.ts';

/** By which a DaemonSet of kube-proxy is stopped, in a way that can be undone: no node has this label. */
export const PARKED = { key: 'kube-proxy', value: 'parked' } as const;

const CALL_MS = 15_000;
/** A node that is busy answers late; taking that for a no would repeat a step. */
const ANSWER_MS = 60_000;
const HEALTHZ_PORT = 10_256;
const LEFTOVERS_CHECK = 'kube-proxy-leftovers';

type Findings = readonly BasicFinding[];

function checkOf(kubectl: Kubectl, ask: (asking: Asking) => Promise<Findings>): StepCheck {
  return async (signal) => await ask({ kubectl, call: { timeoutMs: CALL_MS, signal } });
}

const fails = (...why: readonly string[]): Findings => why.map((what) => problem(what));

/** One sentence for each that is not well; else the word for all. */
function unless(why: readonly string[], what: string): Findings {
  return why.length === 0 ? [good(what)] : fails(...why);
}

export function isParked(daemonSet: JsonRecord): boolean {
  return textAt(recordAt(podSpecOf(daemonSet), 'nodeSelector'), PARKED.key) === PARKED.value;
}

/** That a DaemonSet does not exist. */
export function isGone(kubectl: Kubectl, name: DaemonSetName): StepCheck {
  return checkOf(kubectl, async (asking) => {
    if ((await readDaemonSet(asking, name)) !== undefined) return fails(`DaemonSet ${name} exists`);
    const left = await readPods(asking, name);
    return unless(
      left.map((pod) => `${nodeOf(pod)}: a pod of ${name} has not ended`),
      `no ${name}`,
    );
  });
}

/** That Fairlead runs from this image on every node that has kube-proxy, and says that it is ready. */
export function agentsReady(kubectl: Kubectl, image?: string): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const daemonSet = await readDaemonSet(asking, 'fairlead');
    if (daemonSet === undefined) return fails('there is no DaemonSet fairlead');
    if (image !== undefined && imageOf(daemonSet, 'fairlead') !== image) {
      return fails(`DaemonSet fairlead has the image ${imageOf(daemonSet, 'fairlead')}`);
    }
    return await askAgents(asking, daemonSet, {
      args: ['status', '-o', 'json'],
      read: (stdout) => readiness(recordSaid(stdout)),
      what: (count) => `${count} of ${count} nodes ready`,
    });
  });
}

/** Empty: ready. */
function readiness(page: JsonRecord): readonly string[] {
  if (saidBoolean(page, 'isReady')) return [];
  const [first = {}] = arrayAt(page, 'troubles').filter(isRecord);
  return [textAt(first, 'what') || 'Fairlead is not ready'];
}

interface AgentQuestion {
  readonly args: readonly string[];
  /** What an agent complains about. */
  read(stdout: string): readonly string[];
  /** Where none does; gets the count of nodes. */
  what(count: number): string;
}

/** Asks the agents of all nodes, if every node has one. */
async function askAgents(
  asking: Asking,
  daemonSet: JsonRecord,
  { args, read, what }: AgentQuestion,
): Promise<Findings> {
  const rollout = rolloutOf(daemonSet);
  if (rollout === undefined) return fails('DaemonSet fairlead: its change is not rolled out yet');
  const [own, others] = await Promise.all([
    readPods(asking, 'fairlead'),
    readPods(asking, 'kube-proxy'),
  ]);
  const served = new Set(own.map(nodeOf));
  const why = [
    ...own.flatMap((pod) => {
      const hindrance = hindranceOf(pod);
      return hindrance === undefined ? [] : [`${nodeOf(pod)}: pod of Fairlead: ${hindrance}`];
    }),
    ...others
      .filter((pod) => !served.has(nodeOf(pod)))
      .map((pod) => `${nodeOf(pod)}: kube-proxy serves it, and it has no pod of Fairlead`),
  ];
  if (why.length > 0) return fails(...why);
  const { desired, updated } = rollout;
  if (desired === 0 || own.length !== desired || updated !== desired) {
    return fails(`${Math.min(own.length, updated)} of ${desired} pods of Fairlead are made`);
  }
  const answers = await askNodes(asking.kubectl, own.map(agentOf), {
    args,
    timeoutMs: ANSWER_MS,
    read: ({ stdout }) => read(stdout),
  });
  const complaints = answers.flatMap((answer) =>
    (answer.answers ? answer.said : [answer.why]).map((text) => `${answer.node}: ${text}`),
  );
  return unless(complaints, what(own.length));
}

function agentOf(pod: JsonRecord): NodeAgent {
  const name = textAt(recordAt(pod, 'metadata'), 'name');
  return { node: nodeOf(pod), pod: { namespace: NAMESPACE, name, container: 'fairlead' } };
}

/** That Kubernetes, too, has all pods of Fairlead as ready, and that every kernel has what is desired. */
export function agentsComplete(kubectl: Kubectl): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const daemonSet = await readDaemonSet(asking, 'fairlead');
    const rollout = daemonSet && rolloutOf(daemonSet);
    if (daemonSet === undefined || rollout === undefined) return fails('no DaemonSet fairlead yet');
    const { ready, desired } = rollout;
    if (desired === 0 || ready !== desired) return fails(`${ready} of ${desired} pods are ready`);
    return await askAgents(asking, daemonSet, {
      args: ['diff', '-o', 'json'],
      read: (stdout) => differenceText(listSaid(stdout).length),
      what: () => `${ready} of ${desired} pods ready, every kernel as desired`,
    });
  });
}

function differenceText(count: number): readonly string[] {
  return count === 0 ? [] : [`${count} differences in the kernel`];
}

export function kubeProxyParked(kubectl: Kubectl): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const daemonSet = await readDaemonSet(asking, 'kube-proxy');
    if (daemonSet !== undefined && !isParked(daemonSet)) return fails('kube-proxy is not stopped');
    const left = await readPods(asking, 'kube-proxy');
    return unless(
      left.map((pod) => `${nodeOf(pod)}: kube-proxy has not ended`),
      'no pod of kube-proxy',
    );
  });
}

/** That kube-proxy runs on every node; its ports may still be Fairlead's. */
export function kubeProxyRuns(kubectl: Kubectl): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const daemonSet = await readDaemonSet(asking, 'kube-proxy');
    if (daemonSet === undefined) return fails('there is no DaemonSet kube-proxy');
    if (isParked(daemonSet)) return fails('kube-proxy is stopped');
    const rollout = rolloutOf(daemonSet);
    if (rollout === undefined) return fails('kube-proxy: its change is not rolled out yet');
    const { desired, updated, ready } = rollout;
    const isComplete = desired > 0 && ready === desired && updated === desired;
    const what = `${ready} of ${desired} pods of kube-proxy run`;
    return [isComplete ? good(what) : problem(what)];
  });
}

/** That kube-proxy on every node says that it has written its rules. */
export function kubeProxyHealthy(kubectl: Kubectl): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const nodes = (await readPods(asking, 'kube-proxy')).map(nodeOf);
    const asked = nodes.map(async (node) => {
      const path = `/api/v1/nodes/${node}:${HEALTHZ_PORT}/proxy/healthz`;
      const answer = await kubectl.ask(['get', '--raw', path], asking.call);
      return answer.ended && answer.exitCode === 0
        ? []
        : [`${node}: /healthz of kube-proxy does not answer 200`];
    });
    const why = (await Promise.all(asked)).flat();
    if (nodes.length === 0) return fails('no pod of kube-proxy');
    return unless(why, `kube-proxy healthy on ${nodes.length} of ${nodes.length} nodes`);
  });
}

/** That a cleanup has ended with success on every node. */
export function cleanupEnded(
  kubectl: Kubectl,
  name: 'kube-proxy-cleanup' | 'fairlead-cleanup',
): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const daemonSet = await readDaemonSet(asking, name);
    const rollout = daemonSet && rolloutOf(daemonSet);
    if (rollout === undefined) return fails(`DaemonSet ${name} is not rolled out yet`);
    const pods = await readPods(asking, name);
    const why = pods
      .filter((pod) => !hasInitialised(pod))
      .map((pod) => `${nodeOf(pod)}: not removed yet: ${hindranceOf(pod) ?? 'running'}`);
    if (rollout.desired === 0 || pods.length !== rollout.desired) {
      return fails(...why, `${pods.length} of ${rollout.desired} pods of ${name} are made`);
    }
    return unless(why, `removed on ${pods.length} of ${pods.length} nodes`);
  });
}

/** That `fairlead doctor` finds nothing of kube-proxy in the kernel of any node. */
export function noLeftovers(kubectl: Kubectl): StepCheck {
  return checkOf(kubectl, async (asking) => {
    const daemonSet = await readDaemonSet(asking, 'fairlead');
    if (daemonSet === undefined) return fails('there is no DaemonSet fairlead');
    return await askAgents(asking, daemonSet, {
      args: ['doctor', '-o', 'json'],
      read: (stdout) => leftoversIn(recordSaid(stdout)),
      what: () => 'nothing of kube-proxy in any kernel',
    });
  });
}

function leftoversIn(report: JsonRecord): readonly string[] {
  const own = arrayAt(report, 'results')
    .filter(isRecord)
    .filter((result) => textAt(result, 'check') === LEFTOVERS_CHECK);
  if (own.length === 0) return ['its version of Fairlead does not look for leftovers'];
  return own.filter(({ level }) => level !== 'ok').map((result) => textAt(result, 'what'));
}

/** Of a container of a DaemonSet; empty: it has none of this name. */
export function imageOf(daemonSet: JsonRecord, container: string): string {
  const found = arrayAt(podSpecOf(daemonSet), 'containers')
    .filter(isRecord)
    .find((each) => textAt(each, 'name') === container);
  return found === undefined ? '' : textAt(found, 'image');
}
