import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../../cluster/json.ts';
import { CommandError } from '../../commands/command-error.ts';
import { getJson, type Kubectl } from './kubectl.ts';

/** A node, and the pod of the agent that serves it. */
export interface NodeAgent {
  readonly node: string;
  /** Undefined: there is none that can be asked. */
  readonly pod?: { readonly namespace: string; readonly name: string; readonly container: string };
  /** Why there is none. */
  readonly why?: string;
}

export interface AgentsWanted {
  readonly namespace: string;
  /** Only these nodes; undefined: all. */
  readonly nodes?: readonly string[];
  readonly timeoutMs: number;
}

/** Of both ways to install: our DaemonSet has it too, beside kube-proxy's own. */
const SELECTOR = 'k8s-app=kube-proxy';
const OWN_NAME = 'app.kubernetes.io/name';
const FAIRLEAD = 'fairlead';

interface Pod {
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  /** The container that runs Fairlead; undefined: none does. */
  readonly container: string | undefined;
  /** `Running`, `Pending`; being deleted counts as `Terminating`. */
  readonly phase: string;
}

/** Every node of the cluster with its agent, in the order of the names. */
export async function findAgents(kubectl: Kubectl, wanted: AgentsWanted): Promise<NodeAgent[]> {
  const { namespace, timeoutMs } = wanted;
  const [nodes, pods] = await Promise.all([
    getJson(kubectl, ['get', 'nodes'], { timeoutMs }),
    getJson(kubectl, ['get', 'pods', '-n', namespace, '-l', SELECTOR], { timeoutMs }),
  ]);
  const names = itemsOf(nodes).map((node) => textAt(recordAt(node, 'metadata'), 'name'));
  assertKnown(wanted.nodes, names);
  const byNode = Map.groupBy(itemsOf(pods).map(podOf), ({ node }) => node);
  return (wanted.nodes ?? names)
    .toSorted()
    .map((node) => agentOf(node, byNode.get(node) ?? [], namespace));
}

function itemsOf(list: JsonRecord): readonly JsonRecord[] {
  return arrayAt(list, 'items').filter(isRecord);
}

function podOf(raw: JsonRecord): Pod {
  const [metadata, spec] = [recordAt(raw, 'metadata'), recordAt(raw, 'spec')];
  const isLeaving = textAt(metadata, 'deletionTimestamp') !== '';
  return {
    name: textAt(metadata, 'name'),
    namespace: textAt(metadata, 'namespace'),
    node: textAt(spec, 'nodeName'),
    container: containerOf(metadata, spec),
    phase: isLeaving ? 'Terminating' : textAt(recordAt(raw, 'status'), 'phase'),
  };
}

function agentOf(node: string, pods: readonly Pod[], namespace: string): NodeAgent {
  const own = pods
    .filter(({ container }) => container !== undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const running = own.find(({ phase }) => phase === 'Running');
  if (running !== undefined) {
    const { name, namespace: its, container = '' } = running;
    return { node, pod: { namespace: its, name, container } };
  }
  const [first] = own;
  if (first !== undefined) return { node, why: `pod ${first.name} is ${first.phase}` };
  if (pods.length > 0) return { node, why: 'kube-proxy serves this node, not Fairlead' };
  return { node, why: `no pod of Fairlead in namespace ${namespace}` };
}

/** In our DaemonSet, or in kube-proxy's with another image. */
function containerOf(metadata: JsonRecord, spec: JsonRecord): string | undefined {
  const isOurs = textAt(recordAt(metadata, 'labels'), OWN_NAME) === FAIRLEAD;
  const containers = arrayAt(spec, 'containers').filter(isRecord);
  const found =
    containers.find((each) => isOurs && textAt(each, 'name') === FAIRLEAD) ??
    containers.find((each) => isFairlead(textAt(each, 'image')));
  return found && textAt(found, 'name');
}

/** `registry.example/team/fairlead:1.2.3`. */
function isFairlead(image: string): boolean {
  const name = image.split('/').at(-1) ?? '';
  return name.split(/[:@]/)[0] === FAIRLEAD;
}

function assertKnown(wanted: readonly string[] = [], names: readonly string[]): void {
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length === 0) return;
  throw new CommandError(`no such node: ${unknown.join(', ')}`, {
    code: 'NODE_NOT_FOUND',
    next: '`kubectl get nodes` lists them',
  });
}
