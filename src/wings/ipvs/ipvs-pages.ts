import type { Desired } from '../../dataplanes/contract.ts';
import { elementText } from '../../dataplanes/shared/nft/table-text.ts';
import {
  type Endpoint,
  type Family,
  type Forwarding,
  servicePortKey,
} from '../../forwarding/model.ts';
import type { Scheduler } from '../../forwarding/scheduler.ts';
import type { IpvsProtocol, VirtualServer } from '../../linux/ipvs/ipvs-model.ts';
import { nftablesPages } from '../../modes/pages/nftables-pages.ts';
import type { Page, PageElement, PageFrontend } from '../../modes/pages/rendered-page.ts';
import { captureWords, ipvsWords, isAt } from './ipvs-words.ts';
import { capturedElement } from './plane/capture/capture-elements.ts';
import { setSpec, TABLE_NAME, TABLE_OF_FAMILY } from './plane/capture/capture-sets.ts';
import { renderCapture } from './plane/capture/render-capture.ts';
import { nodePortAddresses } from './plane/ipvs-node-port-addresses.ts';
import { ownServiceAddresses } from './plane/own-service-addresses.ts';
import { Claims } from './plane/server-claims.ts';
import { type Translation, type WantedServer, wantedServers } from './plane/wanted.ts';

/** The rules behind, in words what IPVS does in front of them, and the same as commands. */
export function ipvsPages(
  desired: Desired,
  isWanted: (row: Forwarding) => boolean,
  scheduler: Scheduler,
): Page[] {
  const by = translationOf(desired, scheduler);
  return nftablesPages(desired, isWanted).map((page) => {
    const row = page.forwarding;
    const servers = wantedServers(row, by);
    const words = ipvsWords(row, { servers, scheduler: row.scheduler ?? scheduler });
    if (servers.length === 0) return { ...page, table: `${page.table}, without IPVS`, words };
    return {
      ...page,
      table: `${page.table}, behind IPVS`,
      frontends: page.frontends.map((each) => withCapture(each, servers)),
      words,
      commands: { title: 'BY HAND', lines: servers.flatMap((server) => ipvsadmLines(server)) },
    };
  });
}

/** The table that gives connections to IPVS, and the virtual servers as commands. */
export function rawIpvs(desired: Desired, family: Family, scheduler: Scheduler): string {
  const by = translationOf(desired, scheduler);
  const rows = desired.rows.filter(({ id }) => id.family === family);
  const servers = rows.flatMap((row) => wantedServers(row, by));
  const local = servers.flatMap(({ endpoints }) => endpoints.filter((each) => each.local));
  const elements = {
    captured: new Map(servers.map(({ id, captured }) => [id, captured])),
    servers: new Map(servers.map(({ id, server }) => [id, server])),
    rejected: new Map(),
    hairpin: new Set(local.map(({ address }) => address)),
  };
  const table = renderCapture({ facts: desired.facts, elements }, TABLE_OF_FAMILY[family]);
  const lines = servers.flatMap((server) => ipvsadmLines(server));
  return `${table}${lines.map((line) => `${line}\n`).join('')}`;
}

function withCapture(page: PageFrontend, servers: readonly WantedServer[]): PageFrontend {
  const own = servers.filter((server) => isAt(page.frontend, server));
  if (own.length === 0) return page;
  const captures = own.map(({ captured }): PageElement => {
    const spec = setSpec(TABLE_OF_FAMILY[captured.family], 'captured');
    const does = `table ${TABLE_NAME}: ${captureWords(captured.capture)}`;
    return {
      kind: 'map',
      set: spec.name,
      text: elementText(spec, capturedElement(captured)),
      does,
    };
  });
  return {
    ...page,
    elements: [...captures, ...(page.elements ?? [])],
    path: ['IPVS', ...page.path],
  };
}

function translationOf({ facts, rows }: Desired, scheduler: Scheduler): Translation {
  const claims = new Claims();
  for (const row of rows) claims.set(servicePortKey(row.id), row);
  const own = ownServiceAddresses(facts);
  return { addresses: nodePortAddresses(facts), own, claims, scheduler };
}

const PROTOCOL_OPTION: Readonly<Record<IpvsProtocol, string>> = {
  TCP: '-t',
  UDP: '-u',
  SCTP: '--sctp-service',
};

interface ServerToType {
  readonly server: VirtualServer;
  readonly endpoints: readonly Pick<Endpoint, 'address' | 'port'>[];
  readonly weight: number;
}

/** What a person would type to make a virtual server and its destinations. */
function ipvsadmLines({ server, endpoints, weight }: ServerToType): string[] {
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
