import type { Protocol } from '../forwarding/model.ts';
import { addressBytes } from '../linux/conntrack/address-bytes.ts';
import type { Conntrack } from '../linux/conntrack/conntrack.ts';
import { STATUS_DST_NAT } from '../linux/conntrack/conntrack-protocol.ts';
import type { Flow } from '../linux/conntrack/flow.ts';

/** A translated address; without one, a node port on all addresses. */
export interface TranslatedFrontend {
  readonly protocol: Protocol;
  readonly address?: string;
  readonly port: number;
}

const PROTOCOL_NUMBER: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

/** Deletes all flows translated at any of the frontends, for cleanup. Returns how many. */
export async function removeTranslated(
  conntrack: Conntrack,
  removed: {
    readonly frontends: readonly TranslatedFrontend[];
    readonly nodePortAddresses: readonly string[];
    readonly signal: AbortSignal;
  },
): Promise<number> {
  if (removed.frontends.length === 0) return 0;
  const wanted = new Set(removed.frontends.flatMap((frontend) => keysOf(frontend, removed)));
  const protocols = new Set(removed.frontends.map(({ protocol }) => PROTOCOL_NUMBER[protocol]));
  const destinationPorts = new Set(removed.frontends.map(({ port }) => port));
  let count = 0;
  for await (const flows of conntrack.flows({ protocols, destinationPorts }, removed.signal)) {
    const translated = flows.filter(
      (flow) => (flow.status & STATUS_DST_NAT) !== 0 && wanted.has(keyOf(flow)),
    );
    count += (await conntrack.remove(translated)).length;
  }
  return count;
}

function keysOf(
  { protocol, address, port }: TranslatedFrontend,
  { nodePortAddresses }: { readonly nodePortAddresses: readonly string[] },
): string[] {
  const addresses = address === undefined ? nodePortAddresses : [address];
  return addresses.flatMap((text) => {
    const bytes = addressBytes(text);
    return bytes === undefined ? [] : [`${PROTOCOL_NUMBER[protocol]} ${port} ${bytes}`];
  });
}

function keyOf({ protocol, original }: Flow): string {
  return `${protocol} ${original.destinationPort} ${original.destination}`;
}
