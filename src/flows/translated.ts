import { addressBytes } from '../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import { FrontendOwners, type OwnedFrontend } from './owners.ts';

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
  wanted: TranslatedAt & { readonly most: number },
): Promise<TranslatedFlows> {
  const { most } = wanted;
  let held: TranslatedFlow[] = [];
  let count = 0;
  for await (const flows of translatedFlows(conntrack, wanted)) {
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
  const owners = new FrontendOwners(frontends);
  const leftOut = new Set(except.map(addressBytes));
  for await (const flows of conntrack.flows(owners, signal)) {
    yield flows.flatMap((flow) => {
      const service = leftOut.has(flow.reply.source) ? undefined : owners.of(flow);
      return service === undefined ? [] : [{ service, flow }];
    });
  }
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
