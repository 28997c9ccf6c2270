import { FAMILIES } from '../../../forwarding/model.ts';
import type { MachineLink } from '../../../linux/route/link-codec.ts';
import type { NodeFacts, PodDetection } from '../../contract.ts';
import { InterfaceFlag } from './layout.ts';

/**
 * Interfaces whose packets are met: all but loopback, which only the node's own sockets use. Ports
 * of a bridge too: where bridged packets pass the rules of the machine, the bridge itself is too late.
 * `patterns`: names, with `*` for anything; none is all of them.
 */
export function servedInterfaces(
  links: readonly MachineLink[],
  patterns: readonly string[],
): readonly number[] {
  const shapes = patterns.map(shapeOf);
  return links
    .filter(({ name, loopback }) => {
      return !loopback && (shapes.length === 0 || shapes.some((shape) => shape.test(name)));
    })
    .map(({ index }) => index);
}

function shapeOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

/** Flags of the interfaces by which pods of this node come in, where they are told by that. */
export function podInterfaces(
  links: readonly MachineLink[],
  detection: NodeFacts['podDetection'],
): ReadonlyMap<number, number> {
  const byIndex = new Map(links.map((link) => [link.index, link]));
  const flagged = new Map<number, number>();
  for (const link of links) {
    // Rules see what comes by a port as coming by its bridge.
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
