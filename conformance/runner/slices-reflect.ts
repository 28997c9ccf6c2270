import type { EndpointSlice } from '../../lab/api/objects.ts';
import type { World } from '../world.ts';

/**
 * Whether the controllers have caught up: every Service's slices hold exactly the pods that it
 * selects, each in the state that the pods are in. Until then a proxy cannot know better.
 */
export function slicesReflect(world: World, slices: readonly EndpointSlice[]): boolean {
  return [...world.services].every(([name, service]) => {
    const selector = service.spec.selector?.['app'];
    if (selector === undefined || service.spec.type === 'ExternalName') return true;
    const wanted = wantedEndpoints(world, { selector, everReady: isEverReady(world, name) });
    const own = slices.filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === name);
    return sameEntries(wanted, listedEndpoints(own));
  });
}

function isEverReady(world: World, service: string): boolean {
  return world.declarations.get(service)?.spec?.['publishNotReadyAddresses'] === true;
}

function wantedEndpoints(
  world: World,
  of: { selector: string; everReady: boolean },
): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const [name, pod] of world.pods) {
    if (pod.spec.labels['app'] !== of.selector) continue;
    const serving = !world.notReady.has(name);
    const terminating = world.terminating.has(name);
    const state = describe({
      ready: of.everReady || (serving && !terminating),
      serving,
      terminating,
    });
    wanted.set(pod.address.ipv4, state);
    wanted.set(pod.address.ipv6, state);
  }
  return wanted;
}

function listedEndpoints(slices: readonly EndpointSlice[]): Map<string, string> {
  const listed = new Map<string, string>();
  for (const slice of slices) {
    for (const endpoint of slice.endpoints ?? []) {
      const { ready = true, serving = true, terminating = false } = endpoint.conditions ?? {};
      for (const address of endpoint.addresses) {
        listed.set(address, describe({ ready, serving, terminating }));
      }
    }
  }
  return listed;
}

function describe(state: { ready: boolean; serving: boolean; terminating: boolean }): string {
  return `${state.ready}/${state.serving}/${state.terminating}`;
}

function sameEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
