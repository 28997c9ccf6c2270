import type { Desired } from '../../dataplanes/contract.ts';
import { Claims } from '../../dataplanes/ipvs/claims.ts';
import { nodePortAddresses } from '../../dataplanes/ipvs/node-port-addresses.ts';
import {
  type Translation,
  type WantedServer,
  wantedServers,
} from '../../dataplanes/ipvs/wanted.ts';
import { type Family, type Forwarding, servicePortKey } from '../../forwarding/model.ts';
import type { Scheduler } from '../../forwarding/scheduler.ts';
import { ipvsWords, isAt } from './ipvs-words.ts';
import { ipvsadmLines } from './ipvsadm.ts';
import { nftablesPages } from './nftables-pages.ts';
import type { Page } from './page.ts';

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
    return {
      ...page,
      table: `${page.table}, ${servers.length > 0 ? 'behind' : 'without'} IPVS`,
      frontends: page.frontends.map((each) =>
        servers.some((server) => isAt(each.frontend, server))
          ? { ...each, path: ['IPVS', ...each.path] }
          : each,
      ),
      words: ipvsWords(row, { servers, scheduler: row.scheduler ?? scheduler }),
      ...(servers.length > 0
        ? { commands: { title: 'BY HAND', lines: servers.flatMap(linesOf) } }
        : {}),
    };
  });
}

/** The virtual servers of one family, as commands. */
export function rawIpvs(desired: Desired, family: Family, scheduler: Scheduler): string {
  const by = translationOf(desired, scheduler);
  const rows = desired.rows.filter(({ id }) => id.family === family);
  const lines = rows.flatMap((row) => wantedServers(row, by).flatMap(linesOf));
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function linesOf(server: WantedServer): string[] {
  return ipvsadmLines(server);
}

function translationOf({ facts, rows }: Desired, scheduler: Scheduler): Translation {
  const claims = new Claims();
  for (const row of rows) claims.set(servicePortKey(row.id), row);
  return { addresses: nodePortAddresses(facts), claims, scheduler };
}
