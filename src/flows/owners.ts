import type { Family, Protocol } from '../forwarding/model.ts';
import { addressBytes } from '../linux/conntrack/address-bytes.ts';
import type { Flow } from '../linux/conntrack/flow.ts';
import {
  addressKey,
  type FrontendKey,
  IP_VERSIONS,
  nodePortKey,
  PROTOCOL_NUMBERS,
} from './flow-keys.ts';

/** A served address and port, with its owner. */
export interface OwnedFrontend {
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
  /** Absent for a node port. */
  readonly address?: string;
  readonly port: number;
}

/** Which Service a flow was translated for. */
export class FrontendOwners {
  /** Of the first packets of flows that may be theirs. */
  readonly protocols: ReadonlySet<number>;
  readonly destinationPorts: ReadonlySet<number>;
  readonly #owners: ReadonlyMap<FrontendKey, string>;

  constructor(frontends: readonly OwnedFrontend[]) {
    this.protocols = new Set(frontends.map(({ protocol }) => PROTOCOL_NUMBERS[protocol]));
    this.destinationPorts = new Set(frontends.map(({ port }) => port));
    this.#owners = ownersOf(frontends);
  }

  /** Undefined: the flow was not translated, or not for one of them. */
  of(flow: Flow): string | undefined {
    return isTranslated(flow) ? ownerOf(flow, this.#owners) : undefined;
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
