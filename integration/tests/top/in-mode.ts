import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from '../../../src/linux/testing/hosts/host-messages.ts';
import type { ServiceFigures, Tick } from '../../../src/wings/top/traffic-figures.ts';
import { type Did, differences } from './judge.ts';
import { SHOP } from './shop.ts';
import { TopSite } from './site.ts';

const to = (address: string) => ({ transport: 'TCP', address, port: 80 }) as const;
/** How long to wait for an answer that does not come: less than a second SYN takes. */
const SILENCE_MS = 600;

export interface TopCase {
  readonly mode: string;
  /** Whether conntrack has the connections of pods. */
  readonly knowsLive: boolean;
  /** False: it rejects by ICMP errors, which the kernel limits in rate. */
  readonly resetsTcp?: boolean;
  /** Ticks until the kernel has summed up its counters: IPVS does so every two seconds. */
  readonly lateTicks?: number;
  readonly skip?: string | false;
}

/** `fairlead top` in one mode, beside clients that are counted. */
export function testTop({
  mode,
  knowsLive,
  resetsTcp = true,
  lateTicks = 0,
  skip = false,
}: TopCase): void {
  describe(`fairlead top in mode ${mode}`, { skip }, () => {
    it('counts what the clients did, of each Service and endpoint', async (t) => {
      const site = await TopSite.enter();
      t.after(() => site.leave());
      if (!knowsLive) site.putIntoCgroup(site.network.client.pid);
      await site.startAgent(mode);
      const top = site.startTop();
      await top.nextTicks(1);
      const did = await connectAsClients(site, { knowsLive, isExact: resetsTcp });
      await top.nextTicks(lateTicks);
      await top.freshTick();
      const ticks = top.ticks();
      assert.deepEqual(differences(ticks, did), []);
      // The same with figures of the wrong Service, so that the comparison is known to find them.
      assert.notDeepEqual(differences(ticks.map(withSwappedCounters), did), []);
    });
  });
}

/** Some to each Service, and four that stay open. */
async function connectAsClients(
  site: TopSite,
  { knowsLive, isExact }: { readonly knowsLive: boolean; readonly isExact: boolean },
): Promise<Readonly<Record<string, Did>>> {
  const { client, outside, endpoints } = site.network;
  const busy = await client.ask({ ...to(SHOP.busy), count: 60 });
  const partly = await client.ask({ ...to(SHOP.partly), count: 10 });
  const refused = await client.ask({ ...to(SHOP.empty), count: 7 });
  assert.ok(refused.every(({ by }) => by === 'ECONNREFUSED'));
  const [silent] = await outside.ask({ ...to(SHOP.elsewhere), timeoutMs: SILENCE_MS });
  assert.equal(silent?.by, 'TIMEOUT');
  await Promise.all([1, 2, 3, 4].map(() => client.hold(to(SHOP.busy))));
  const answered = (answers: readonly Answer[]) =>
    Object.fromEntries(
      endpoints
        .map(({ name, ipv4 }) => [`${ipv4}:8080`, answers.filter(({ by }) => by === name).length])
        .filter(([, count]) => count !== 0),
    ) as Record<string, number>;
  const live = (count: number) => ({ live: knowsLive ? count : undefined });
  return {
    'shop/busy:http': { answered: answered(busy), held: 4, ...live(4) },
    'shop/partly:http': { answered: answered(partly), ...live(0) },
    'shop/empty:http': { rejected: 7, mostRepeated: isExact ? 0 : 7, ...live(0) },
    'shop/elsewhere:http': { dropped: 1, mostRepeated: 1, ...live(0) },
  };
}

/** As if the counters of one Service were read for the other. */
function withSwappedCounters(tick: Tick): Tick {
  const other: Readonly<Record<string, string>> = {
    'shop/busy:http': 'shop/partly:http',
    'shop/partly:http': 'shop/busy:http',
  };
  const rows = tick.rows as readonly ServiceFigures[];
  return {
    ...tick,
    rows: rows.map((row) => ({ ...row, service: other[row.service] ?? row.service })),
  };
}
