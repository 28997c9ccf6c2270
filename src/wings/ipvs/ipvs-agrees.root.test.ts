import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bring, newPlane } from '../../dataplanes/nftables/testing/nftables-kernel.ts';
import type { Endpoint, Forwarding, Outcome, SourceClass } from '../../forwarding/model.ts';
import { WITHOUT_IPVS } from '../../linux/ipvs/testing/load-ipvs.ts';
import { SERVED_PORT } from '../../linux/testing/hosts/host.ts';
import type { CapturedFrontend } from './plane/capture/frontend.ts';
import {
  enterNode,
  enterSite,
  frontendsOf,
  leaveSite,
  SITE_FACTS,
  type Site,
  serve,
  setIpvsSysctls,
  TRANSPORTS,
  VERSIONS,
  virtualAddress,
} from './plane/capture/testing/site.ts';

type Outcomes = Readonly<Record<SourceClass, Outcome>>;

const PLAIN: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
const MASQUERADED: Outcome = { action: 'forward', list: 'cluster', masquerade: true };
const LOCAL: Outcome = { action: 'forward', list: 'local', masquerade: false };
const REJECT: Outcome = { action: 'reject' };

/** By the number of the Service: what nftables does, and what of it IPVS gets. */
const SERVICES: readonly {
  readonly outcomes: Outcomes;
  readonly capture?: CapturedFrontend['capture'];
}[] = [
  {
    outcomes: { pod: PLAIN, host: MASQUERADED, outside: MASQUERADED },
    capture: { pod: 'take', host: 'take-and-masquerade', outside: 'take-and-masquerade' },
  },
  {
    outcomes: { pod: MASQUERADED, host: MASQUERADED, outside: MASQUERADED },
    capture: {
      pod: 'take-and-masquerade',
      host: 'take-and-masquerade',
      outside: 'take-and-masquerade',
    },
  },
  {
    outcomes: { pod: PLAIN, host: MASQUERADED, outside: LOCAL },
    capture: { pod: 'pass', host: 'pass', outside: 'take' },
  },
  { outcomes: { pod: REJECT, host: REJECT, outside: REJECT } },
];
/** An address that no Service has. */
const UNASSIGNED = SERVICES.length + 1;
const SILENCE_MS = 700;

describe('IPVS in front of nftables', { skip: WITHOUT_IPVS }, () => {
  let site: Site;

  before(async () => {
    enterNode();
    setIpvsSysctls();
    site = await enterSite();
  });
  after(() => leaveSite(site));

  test('answers as nftables alone, to every source class', async () => {
    const plane = newPlane();
    const facts = { ...SITE_FACTS, serviceRanges: ['10.96.0.0/16', 'fd96::/112'] };
    await bring(plane, { facts, rows: rows(site) });
    const alone = await answers(site);
    assert.ok(alone.some(({ by }) => by === 'ipvs') && alone.some(({ by }) => by !== 'ipvs'));
    await site.captures.ensure(facts);
    for (const [index, { capture }] of SERVICES.entries()) {
      if (!capture) continue;
      serve(index + 1, site.ipvs);
      await site.captures.write({ take: frontendsOf(index + 1, capture) });
    }
    await site.captures.write({ hairpinAdd: [site.ipvs.ipv4, site.ipvs.ipv6] });
    assert.deepEqual(await answers(site), alone);
  });
});

function rows({ ipvs }: Site): readonly Forwarding[] {
  return VERSIONS.flatMap((version) =>
    TRANSPORTS.flatMap((protocol) =>
      SERVICES.map(({ outcomes, capture }, index): Forwarding => {
        const endpoint: Endpoint = { address: ipvs[version], port: SERVED_PORT, local: true };
        const endpoints = capture ? [endpoint] : [];
        const family = version === 'ipv4' ? 'IPv4' : 'IPv6';
        const address = virtualAddress(index + 1)[version];
        return {
          id: { namespace: 'ns', service: `s${index}`, port: '', protocol, family },
          frontends: [{ kind: 'cluster-ip', address, port: 80, outcomes }],
          clusterEndpoints: endpoints,
          localEndpoints: endpoints,
          affinitySeconds: 0,
        };
      }),
    ),
  );
}

interface Seen {
  readonly who: string;
  readonly address: string;
  readonly transport: string;
  readonly port: number;
  readonly by: string;
  readonly saw: string;
}

/** Every Service from everywhere, also from its endpoint; a port that it has not; an unused address. */
async function answers({ pod, node, outside, ipvs }: Site): Promise<readonly Seen[]> {
  const found: Seen[] = [];
  for (const version of VERSIONS) {
    for (const transport of TRANSPORTS) {
      for (const host of [pod, node, outside, ipvs]) {
        const ask = async (number: number, port: number) => {
          const address = virtualAddress(number)[version];
          const how = { connected: true, timeoutMs: SILENCE_MS };
          const [answer] = await host.ask({ transport, address, port, ...how });
          assert.ok(answer);
          found.push({
            who: host.name,
            address,
            transport,
            port,
            by: answer.by,
            saw: answer.saw,
          });
        };
        for (const index of SERVICES.keys()) await ask(index + 1, 80);
        await ask(1, SERVED_PORT);
        await ask(UNASSIGNED, 80);
      }
    }
  }
  return found;
}
