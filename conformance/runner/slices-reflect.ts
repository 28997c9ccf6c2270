import type { EndpointSlice, Service, ServicePort } from '../../lab/api/objects.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { World } from '../world.ts';

const PREFER_SAME_NODE = 'PreferSameNode';
/** While an endpoint moves from one slice to another, as when its port changes. */
const TWICE = 'in two slices';

/**
 * Whether the controllers have caught up: every Service's slices hold exactly the pods that it
 * selects, each in the state that the pods are in, with the ports and hints that the Service asks
 * for. Until then a proxy cannot know better.
 */
export function slicesReflect(world: World, slices: readonly EndpointSlice[]): boolean {
  return [...world.services].every(([name, service]) => {
    if (service.spec.selector === undefined || service.spec.type === 'ExternalName') return true;
    const own = slices.filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === name);
    return sameEntries(wantedEndpoints(world, name, service), listedEndpoints(own));
  });
}

function isEverReady(world: World, service: string): boolean {
  return world.declarations.get(service)?.spec?.['publishNotReadyAddresses'] === true;
}

function wantedEndpoints(world: World, service: string, { spec }: Service): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const [name, pod] of world.pods) {
    if (pod.spec.labels['app'] !== spec.selector?.['app']) continue;
    const serving = !world.notReady.has(name);
    const terminating = world.terminating.has(name);
    const ready = isEverReady(world, service) || (serving && !terminating);
    const state = describe({
      ready,
      serving,
      terminating,
      ports: (spec.ports ?? []).flatMap((port) => targetOf(pod, port)),
      // Hints of what is not ready stay as they were.
      zoneHints: ready && spec.trafficDistribution !== undefined ? 1 : 0,
      nodeHints: ready && spec.trafficDistribution === PREFER_SAME_NODE ? 1 : 0,
    });
    wanted.set(pod.address.ipv4, state);
    wanted.set(pod.address.ipv6, state);
  }
  return wanted;
}

/** A port whose target the pod does not name is left out for that pod. */
function targetOf(pod: Pod, { name, port, targetPort, protocol = 'TCP' }: ServicePort): string[] {
  const target =
    typeof targetPort === 'string'
      ? pod.spec.ports.find((own) => own.name === targetPort && own.protocol === protocol)?.port
      : (targetPort ?? port);
  return target === undefined ? [] : [portText(name, target, protocol)];
}

function listedEndpoints(slices: readonly EndpointSlice[]): Map<string, string> {
  const listed = new Map<string, string>();
  for (const slice of slices) {
    const ports = (slice.ports ?? []).map(({ name, port, protocol }) =>
      portText(name, port, protocol),
    );
    for (const endpoint of slice.endpoints ?? []) {
      const { ready = true, serving = true, terminating = false } = endpoint.conditions ?? {};
      const zoneHints = ready ? (endpoint.hints?.forZones?.length ?? 0) : 0;
      const nodeHints = ready ? (endpoint.hints?.forNodes?.length ?? 0) : 0;
      const state = describe({ ready, serving, terminating, ports, zoneHints, nodeHints });
      for (const address of endpoint.addresses) {
        listed.set(address, listed.has(address) ? TWICE : state);
      }
    }
  }
  return listed;
}

function portText(name = '', port: number | undefined, protocol = 'TCP'): string {
  return `${name}:${port}/${protocol}`;
}

interface EndpointState {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly ports: readonly string[];
  readonly zoneHints: number;
  readonly nodeHints: number;
}

function describe({ ports, ...state }: EndpointState): string {
  return [...Object.values(state), ...ports.toSorted()].join(' ');
}

function sameEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
