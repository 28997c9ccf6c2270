import { canonicalIp } from '../../addresses/ip.ts';
import {
  familyOf,
  type Source,
  sourceAt,
  sourceOfClass,
} from '../../forwarding/answer/connection-source.ts';
import type { Destination } from '../../forwarding/answer/destination.ts';
import type { Place } from '../../forwarding/answer/place.ts';
import type { Family, SourceClass } from '../../forwarding/model.ts';
import { isOwnNamespace } from '../../linux/namespace-of-address.ts';
import { holdPort } from '../../linux/probe/held-port.ts';
import { CommandError, WRONG_USAGE_EXIT } from '../command-error.ts';
import { visible } from '../terminal/visible.ts';
import type { Pod } from './pod-of-cluster.ts';

/** What `--from` says. */
export type From =
  | { readonly by: 'class'; readonly class: SourceClass }
  /** `isPodHere`: it is said to be a pod of this node, which its interface shows. */
  | {
      readonly by: 'address';
      readonly address: string;
      readonly isPodHere: boolean;
      /** The network namespace that has the address; undefined: it is searched for. */
      readonly namespacePath?: string;
    }
  | { readonly by: 'pod'; readonly pod: Pod }
  /** A network namespace by its path; `name`: as it was given. */
  | { readonly by: 'namespace'; readonly path: string; readonly name: string };

/** What the rest of a command needs of it. */
export interface AskedFrom {
  readonly source: Source;
  readonly isNamed: boolean;
  readonly pod?: { readonly name: string; readonly otherNode?: string };
}

const CLASSES: ReadonlyMap<string, SourceClass> = new Map([
  ['pod', 'pod'],
  ['host', 'host'],
  ['outside', 'outside'],
]);

/** Reads `--from`; a pod is looked up by `findPod`. */
export async function readFrom(
  text: string,
  findPod: (name: string) => Promise<Pod>,
): Promise<From> {
  const named = CLASSES.get(text);
  if (named !== undefined) return { by: 'class', class: named };
  const path = namespacePath(text);
  if (path !== undefined) return { by: 'namespace', path, name: text };
  const address = addressFrom(text);
  if (address !== undefined) return address;
  const [, pod] = /^pod:([^/:]+\/[^/:]+)$/.exec(text) ?? [];
  if (pod !== undefined) return { by: 'pod', pod: await findPod(pod) };
  throw new CommandError(`--from does not read '${visible(text)}'`, {
    code: 'USAGE',
    next: 'use pod:NAMESPACE/NAME, pod:ADDRESS, netns:PATH, pid:NUMBER, host, an IP address, or one of pod, outside for any client of that class; ADDRESS@PATH names the network namespace that has the address',
    exitCode: WRONG_USAGE_EXIT,
  });
}

/** `10.1.0.2`, `pod:10.1.0.2`, `pod:10.1.0.2@/run/netns/a`. */
function addressFrom(text: string): Extract<From, { by: 'address' }> | undefined {
  const isPodHere = text.startsWith('pod:');
  const rest = isPodHere ? text.slice('pod:'.length) : text;
  const [, name = rest, namespacePath] = /^([^@]+)@(\/.+)$/.exec(rest) ?? [];
  const address = canonicalIp(name);
  if (address === undefined) return undefined;
  return { by: 'address', address, isPodHere, ...(namespacePath ? { namespacePath } : {}) };
}

/** `netns:/run/netns/a`, `pid:123`. */
function namespacePath(text: string): string | undefined {
  const [, path] = /^netns:(\/.+)$/.exec(text) ?? [];
  const [, pid] = /^pid:([1-9]\d*)$/.exec(text) ?? [];
  return path ?? (pid === undefined ? undefined : `/proc/${pid}/ns/net`);
}

/** The family that it has addresses of; undefined: any. */
export function familyOfFrom(from: From): Family | undefined {
  if (from.by === 'address') return familyOf(from.address);
  const [first] = from.by === 'pod' ? from.pod.addresses : [];
  return first === undefined ? undefined : familyOf(first);
}

/** The source class of a client, in the family of the connection. */
export function askedFrom(from: From, to: Destination, place: Place): AskedFrom {
  const family = familyOf(to.address);
  if (from.by === 'namespace') return askedFromNamespace(from, to, place);
  if (from.by === 'class') {
    return { source: sourceOfClass(from.class, family, place), isNamed: false };
  }
  if (from.by === 'address') {
    if (familyOf(from.address) !== family) throw otherFamily(from.address, family);
    return { source: sourceAt(from.address, place, from.isPodHere), isNamed: true };
  }
  const { pod } = from;
  const address = pod.addresses.find((each) => familyOf(each) === family);
  if (address === undefined) throw otherFamily(`pod ${pod.name}`, family);
  const { nodeName } = place.view;
  const isHere = pod.nodeName === nodeName;
  const otherNode = isHere || pod.nodeName === '' ? {} : { otherNode: pod.nodeName };
  const source =
    isHere && pod.isHostNetwork
      ? ({ class: 'host', address, because: 'it uses the network of this node' } as const)
      : sourceAt(address, place, isHere);
  return { source, isNamed: true, pod: { name: pod.name, ...otherNode } };
}

/** With the address that its routes give as source to the target. */
function askedFromNamespace(
  { path, name }: Extract<From, { by: 'namespace' }>,
  { address, port }: Destination,
  place: Place,
): AskedFrom {
  try {
    using held = holdPort({ address, port, protocol: 'UDP' }, { namespacePath: path });
    const isPodHere = !isOwnNamespace(path);
    return { source: sourceAt(held.source, place, isPodHere), isNamed: true };
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new CommandError(`--from ${visible(name)} cannot be used: ${cause.message}`, {
      code: 'NAMESPACE_UNUSABLE',
      next: 'check that it exists and has a route to the target, and run as root',
      cause,
    });
  }
}

function otherFamily(what: string, family: Family): CommandError {
  return new CommandError(`${what} has no ${family} address, which the target has`, {
    code: 'OTHER_FAMILY',
    next: 'name an address of the other family as target or source',
    exitCode: WRONG_USAGE_EXIT,
  });
}
