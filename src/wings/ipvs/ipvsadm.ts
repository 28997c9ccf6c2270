import type { Endpoint } from '../../forwarding/model.ts';
import type { IpvsProtocol, VirtualServer } from '../../linux/ipvs/model.ts';

const PROTOCOL_OPTION: Readonly<Record<IpvsProtocol, string>> = {
  TCP: '-t',
  UDP: '-u',
  SCTP: '--sctp-service',
};

export interface ServerToType {
  readonly server: VirtualServer;
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port'>[];
  readonly weight: number;
}

/** What a person would type to make a virtual server and its destinations. */
export function ipvsadmLines({ server, endpoints, weight }: ServerToType): string[] {
  const at = `${PROTOCOL_OPTION[server.protocol]} ${withPort(server)}`;
  const options = [
    `-s ${server.scheduler}`,
    ...(server.persistenceSeconds > 0 ? [`-p ${server.persistenceSeconds}`] : []),
    ...(server.schedulerFlags.length > 0 ? [`-b ${server.schedulerFlags.join(',')}`] : []),
  ];
  return [
    `ipvsadm -A ${at} ${options.join(' ')}`,
    ...endpoints.map((endpoint) => `ipvsadm -a ${at} -r ${withPort(endpoint)} -m -w ${weight}`),
  ];
}

function withPort({ address, port }: Pick<Endpoint, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
