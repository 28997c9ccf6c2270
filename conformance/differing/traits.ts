import type {
  Answer,
  Asker,
  PodDeclaration,
  Scenario,
  ServiceDeclaration,
  ServicePatch,
  Target,
} from '../scenario.ts';

/**
 * What one question of a scenario exercises, read from the scenario's own data. Words that this
 * file does not know (a new kind of target, answer, change or setting) become traits by their own
 * names, so a new scenario is classified without an entry anywhere.
 */
export interface Traits {
  /** `pod`, `node`, `client` or `machine`; with `outside` before it where Fairlead is on no node. */
  readonly asker: string;
  /** The kind of address: `clusterIP`, `nodePort`, `externalIP`, `loadBalancer`, … */
  readonly target: string;
  readonly protocol: string;
  /** `answeredBy own`, `refused`, `silent`, … */
  readonly answer: string;
  /** What else holds for it: fields of the Service, where client and endpoints are, settings. */
  readonly qualities: ReadonlySet<string>;
}

interface Asked {
  readonly from: Asker;
  readonly to: Target;
  readonly expect: Answer;
  /** Kinds of the steps and changes that came before it, and how it is asked. */
  readonly how: ReadonlySet<string>;
}

/** What every question has, and what says how often or how soon rather than what. */
const USUAL_OF_QUESTIONS = ['name', 'from', 'to', 'expect', 'otherwise', 'connections', 'settles'];
/** What pods have that makes no difference to the way to them. */
const USUAL_OF_PODS = ['node', 'app', 'ports', 'ready'];

/** Both the scenario's declarations and what its changes create. */
interface Declared {
  readonly pods: ReadonlyMap<string, PodDeclaration>;
  readonly services: ReadonlyMap<string, readonly (ServiceDeclaration | ServicePatch)[]>;
  readonly setup: readonly string[];
}

/** One element for every question, held flows included. */
export function traitsOf(scenario: Scenario): Traits[] {
  const declared = declaredBy(scenario);
  return askedBy(scenario).map((asked) => ({
    asker: askerKind(asked.from, scenario),
    target: targetKind(asked.to, declared),
    protocol: protocolOf(asked.to, declared),
    answer: answerKind(asked.expect),
    qualities: new Set([
      ...declared.setup,
      ...asked.how,
      ...whereabouts(asked, declared),
      ...serviceQualities(asked.to, declared),
    ]),
  }));
}

function askedBy(scenario: Scenario): Asked[] {
  const asked: Asked[] = [];
  const held = new Map<string, { from: Asker; to: Target }>();
  const after = new Set<string>();
  for (const step of scenario.steps) {
    if ('ask' in step) {
      for (const question of step.ask) {
        asked.push({
          ...question,
          how: new Set([...after, ...unusual(question, USUAL_OF_QUESTIONS)]),
        });
      }
    } else if ('hold' in step) {
      held.set(step.hold.name, step.hold);
      asked.push({ ...step.hold, how: new Set(after) });
    } else if ('held' in step) {
      const flow = held.get(step.held);
      const how = new Set([...after, 'held']);
      if (flow) asked.push({ from: flow.from, to: flow.to, expect: step.expect, how });
    } else if ('change' in step) {
      for (const change of step.change) after.add(`after ${firstKey(change)}`);
    } else {
      after.add(firstKey(step));
    }
  }
  return asked;
}

function declaredBy(scenario: Scenario): Declared {
  const pods = new Map(Object.entries(scenario.pods ?? {}));
  const services = new Map<string, (ServiceDeclaration | ServicePatch)[]>();
  const declare = (name: string, service: ServiceDeclaration | ServicePatch): void => {
    services.set(name, [...(services.get(name) ?? []), service]);
  };
  for (const [name, service] of Object.entries(scenario.services ?? {})) declare(name, service);
  for (const change of scenario.steps.flatMap((step) => ('change' in step ? step.change : []))) {
    if ('addPod' in change) pods.set(change.addPod, change.pod);
    if ('createService' in change) declare(change.createService, change.service);
    if ('patchService' in change) declare(change.patchService, change.to);
  }
  return { pods, services, setup: setupQualities(withoutNeeds(scenario)) };
}

/** What a question needs to be asked at all does not change how it is answered. */
function withoutNeeds({ setup = {} }: Scenario): object {
  const { kernel: _kernel, only: _only, ...rest } = setup;
  return rest;
}

/** `podNetwork=bridge`, `masqueradeAll=true`, and whatever else a setup may come to say. */
function setupQualities(setup: object): string[] {
  return Object.entries(setup).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? setupQualities(value)
      : [`${key}=${value}`],
  );
}

/** The same host is another asker where the proxy is on that host itself. */
function askerKind(from: Asker, { setup }: Scenario): string {
  const kind = from.match(/^[a-z]+/)?.[0] ?? from;
  return setup?.outside ? `outside ${kind}` : kind;
}

function targetKind(to: Target, declared: Declared): string {
  const kind = firstKey(to);
  const inner = targetInside(to);
  if (inner) return `${kind} ${targetKind(inner, declared)}`;
  if (kind === 'nodePortNamed') return 'nodePort';
  if (!('address' in to)) return kind;
  if (to.address.includes(':')) return to.address.split(':')[0] ?? kind;
  const all = [...declared.services.values()].flat();
  if (all.some(({ loadBalancer }) => loadBalancer?.some(({ name }) => name === to.address))) {
    return 'loadBalancer';
  }
  return all.some(({ externalIPs }) => externalIPs?.includes(to.address)) ? 'externalIP' : kind;
}

/** A kind of question that is put to any target, such as an echo request, holds that target. */
function targetInside(to: Target): Target | undefined {
  const [inner] = Object.values(to);
  return typeof inner === 'object' && inner !== null ? (inner as Target) : undefined;
}

function serviceOf(to: Target): string | undefined {
  const inner = targetInside(to);
  if (inner) return serviceOf(inner);
  if ('clusterIP' in to) return to.clusterIP;
  if ('nodePort' in to) return to.nodePort;
  return 'service' in to ? to.service : undefined;
}

function protocolOf(to: Target, { services }: Declared): string {
  if ('protocol' in to && to.protocol !== undefined) return to.protocol;
  const ports = (services.get(serviceOf(to) ?? '') ?? []).flatMap((service) => service.ports ?? []);
  const wanted = 'port' in to ? to.port : undefined;
  const port = ports.find(
    ({ name, port }) => wanted === undefined || [name, port].includes(wanted),
  );
  return port?.protocol ?? 'TCP';
}

function answerKind(expect: Answer): string {
  const kind = firstKey(expect);
  return 'source' in expect && expect.source !== undefined ? `${kind} ${expect.source}` : kind;
}

/** Where the asker stands to the pods that may answer. */
function whereabouts({ from, to, expect }: Asked, { pods }: Declared): string[] {
  const names = answerers(expect);
  const name = from.startsWith('pod:') ? from.slice('pod:'.length) : undefined;
  const asking = name === undefined ? undefined : pods.get(name);
  const nodeIndex = asking?.node ?? Number(from.match(/node(\d+)$/)?.[1]);
  const found: string[] = [];
  if (name !== undefined && names.includes(name)) found.push('hairpin');
  for (const pod of [asking, ...names.map((one) => pods.get(one))]) {
    found.push(...unusual(pod ?? {}, USUAL_OF_PODS));
  }
  if (names.length > 0 && Number.isInteger(nodeIndex)) {
    const isNear = (pod: string): boolean => pods.get(pod)?.node === nodeIndex;
    if (names.some(isNear)) found.push('endpoint near');
    if (!names.every(isNear)) found.push('endpoint far');
  }
  if ('at' in to && to.at !== undefined) found.push(`at ${to.at}`);
  return found;
}

function answerers(expect: Answer): readonly string[] {
  const [value] = Object.values(expect) as unknown[];
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? (value as string[]) : [];
}

/** Fields of the spec that have more than the usual value, labels, and modes of load balancers. */
function serviceQualities(to: Target, { services }: Declared): string[] {
  const name = serviceOf(to);
  const versions = name === undefined ? [] : (services.get(name) ?? []);
  return versions.flatMap(({ spec = {}, labels = {}, annotations = {}, loadBalancer = [] }) => [
    ...Object.entries(spec)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([key, value]) => (typeof value === 'string' ? `${key}=${value}` : key)),
    ...Object.keys(labels).map((label) => `label ${label}`),
    ...Object.keys(annotations).map((name) => `annotation ${name}`),
    ...loadBalancer.flatMap(({ ipMode }) => (ipMode ? [`ipMode=${ipMode}`] : [])),
  ]);
}

/** Names of the fields that are set and not among the usual ones. */
function unusual(of: object, usual: readonly string[]): string[] {
  return Object.entries(of)
    .filter(([key, value]) => !usual.includes(key) && value !== undefined && value !== false)
    .map(([key]) => key);
}

function firstKey(of: object): string {
  return Object.keys(of)[0] ?? 'nothing';
}
