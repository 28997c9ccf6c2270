import type { NodeFacts } from '../../../../dataplanes/contract.ts';
import type { PodDetection } from '../../../../forwarding/answer/place.ts';
import { FAMILIES } from '../../../../forwarding/model.ts';
import type { MachineLink } from '../../../../linux/route/link-codec.ts';
import { InterfaceFlag } from './layout.ts';

/**
 * Interfaces that get the program: all but loopback, which only the node's own sockets use. Ports
 * of a bridge too: where bridged packets traverse the rules of the machine, the bridge itself is
 * too late. `patterns`: names, with `*` as a wildcard; empty: all. `clients`: the interfaces whose
 * packets are translated, by the same kind of names; undefined: all.
 */
export function servedInterfaces(
  links: readonly MachineLink[],
  patterns: readonly string[],
  clients: NodeFacts['clientInterfaces'],
): readonly number[] {
  const isMet = matcherOf(patterns);
  const isClient = clients && matcherOf(clients);
  const byIndex = new Map(links.map((link) => [link.index, link]));
  const isServed = ({ name, master, loopback }: MachineLink): boolean => {
    if (loopback || (patterns.length > 0 && !isMet(name))) return false;
    // Rules see the packets of a port as coming in by its bridge.
    const bridge = byIndex.get(master)?.name;
    return !isClient || isClient(name) || (bridge !== undefined && isClient(bridge));
  };
  return links.filter(isServed).map(({ index }) => index);
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const shapes = patterns.map(shapeOf);
  return (name) => shapes.some((shape) => shape.test(name));
}

function shapeOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

/**
 * Flags of the interfaces by which pods of this node come in, where pods are detected by interface.
 */
export function podInterfaces(
  links: readonly MachineLink[],
  detection: NodeFacts['podDetection'],
): ReadonlyMap<number, number> {
  const byIndex = new Map(links.map((link) => [link.index, link]));
  const flagged = new Map<number, number>();
  for (const link of links) {
    // Rules see the packets of a port as coming in by its bridge.
    const names = [link.name, byIndex.get(link.master)?.name];
    let flags = 0;
    for (const family of FAMILIES) {
      if (names.some((name) => isPods(detection[family], name))) flags |= InterfaceFlag[family];
    }
    if (flags !== 0) flagged.set(link.index, flags);
  }
  return flagged;
}

function isPods(detection: PodDetection | undefined, name: string | undefined): boolean {
  if (detection === undefined || name === undefined) return false;
  if (detection.by === 'interface') return name === detection.name;
  return detection.by === 'interface-prefix' && name.startsWith(detection.prefix);
}
