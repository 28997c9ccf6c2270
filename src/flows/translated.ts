import type { Family, Protocol } from '../forwarding/model.ts';
import { addressBytes } from '../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import {
  addressKey,
  type FrontendKey,
  IP_VERSIONS,
  nodePortKey,
  PROTOCOL_NUMBERS,
} from './keys.ts';

/** A served address and port, with its owner. */
export interface OwnedFrontend {
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
  /** Absent for a node port. */
  readonly address?: string;
  readonly port: number;
}

export interface TranslatedFlow {
  readonly service: string;
  readonly flow: Flow;
}

export interface TranslatedFlows {
  /** The first of them, sorted by Service, address and client. */
  readonly first: readonly TranslatedFlow[];
  /** The total number. */
  readonly count: number;
}

/** Which flows are wanted. */
export interface TranslatedAt {
  readonly frontends: readonly OwnedFrontend[];
  /** Flows to these addresses are left out: they only lead to a process that forwards them. */
  readonly except?: readonly string[];
  readonly signal: AbortSignal;
}

/** The flows translated at any of the frontends, sorted. Buffers at most twice as many as wanted. */
export async function readTranslated(
  conntrack: Conntrack,
  of: TranslatedAt & { readonly most: number },
): Promise<TranslatedFlows> {
  const { most } = of;
  let held: TranslatedFlow[] = [];
  let count = 0;
  for await (const flows of translatedFlows(conntrack, of)) {
    count += flows.length;
    held.push(...flows);
    if (held.length >= 2 * most) held = firstOf(held, most);
  }
  return { first: firstOf(held, most), count };
}

/** The flows translated at any of the frontends, in the order of the kernel. */
export async function* translatedFlows(
  conntrack: Conntrack,
  { frontends, except = [], signal }: TranslatedAt,
): AsyncGenerator<readonly TranslatedFlow[]> {
  if (frontends.length === 0) return;
  const owners = ownersOf(frontends);
  const protocols = new Set(frontends.map(({ protocol }) => PROTOCOL_NUMBERS[protocol]));
  const destinationPorts = new Set(frontends.map(({ port }) => port));
  const leftOut = new Set(except.map(addressBytes));
  for await (const flows of conntrack.flows({ protocols, destinationPorts }, signal)) {
    yield flows.flatMap((flow) => {
      const isShown = isTranslated(flow) && !leftOut.has(flow.reply.source);
      const service = isShown ? ownerOf(flow, owners) : undefined;
      return service === undefined ? [] : [{ service, flow }];
    });
  }
}

function ownersOf(frontends: readonly OwnedFrontend[]): ReadonlyMap<FrontendKey, string> {
  const owners = new Map<FrontendKey, string>();
  for (const { service, protocol, family, address, port } of frontends) {
    const number = PROTOCOL_NUMBERS[protocol];
    const bytes = address === undefined ? undefined : addressBytes(address);
    if (bytes !== undefined) owners.set(addressKey(number, bytes, port), service);
    else if (address === undefined) {
      owners.set(nodePortKey(IP_VERSIONS[family], number, port), service);
    }
  }
  return owners;
}

function ownerOf(
  { version, protocol, original }: Flow,
  owners: ReadonlyMap<FrontendKey, string>,
): string | undefined {
  const { destination, destinationPort } = original;
  return (
    owners.get(addressKey(protocol, destination, destinationPort)) ??
    owners.get(nodePortKey(version, protocol, destinationPort))
  );
}

/** Translated: the source of replies is not the destination of the request. */
function isTranslated({ original, reply }: Flow): boolean {
  return reply.source !== original.destination || reply.sourcePort !== original.destinationPort;
}

function firstOf(flows: readonly TranslatedFlow[], most: number): TranslatedFlow[] {
  return flows.toSorted(inOrder).slice(0, most);
}

function inOrder(a: TranslatedFlow, b: TranslatedFlow): number {
  const [x, y] = [a.flow, b.flow];
  return (
    byText(a.service, b.service) ||
    x.protocol - y.protocol ||
    x.version - y.version ||
    byText(x.original.destination, y.original.destination) ||
    x.original.destinationPort - y.original.destinationPort ||
    byText(x.original.source, y.original.source) ||
    x.original.sourcePort - y.original.sourcePort
  );
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
