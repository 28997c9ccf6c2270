import type { ServedPort } from '../../agent/servers/traffic-pages.ts';
import { FrontendOwners, type OwnedFrontend } from '../../flows/owners.ts';
import type { Family, Protocol, ServicePortKey } from '../../forwarding/model.ts';

/** Parts of a service port's key. */
export interface PortName {
  /** `namespace/name:port`. */
  readonly service: string;
  readonly protocol: Protocol;
  readonly family: Family;
}

export function portNameOf(key: ServicePortKey): PortName {
  const parts = key.split('/');
  const [protocol, family] = parts.slice(-2) as [Protocol, Family];
  return { service: parts.slice(0, -2).join('/'), protocol, family };
}

/** The owner of a flow is the key of its service port. */
export function ownersOf(ports: readonly ServedPort[]): FrontendOwners {
  const frontends: OwnedFrontend[] = [];
  for (const [key, addresses] of ports) {
    const { protocol, family } = portNameOf(key);
    for (const [address, port] of addresses) {
      const place = address === '' ? { port } : { address, port };
      frontends.push({ service: key, protocol, family, ...place });
    }
  }
  return new FrontendOwners(frontends);
}
