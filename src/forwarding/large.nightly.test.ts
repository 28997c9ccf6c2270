import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceObject, SliceEndpoint, SliceObject } from '../cluster/objects.ts';
import { healthCheckOf } from './health.ts';
import { ForwardingTable } from './table.ts';
import { elsewhere, endpoint, service, slice, view } from './testing/example-objects.ts';
import { compare } from './testing/rounds.ts';

const LOAD_BALANCER: Partial<ServiceObject> = {
  type: 'LoadBalancer',
  clusterIPs: ['10.96.0.1'],
  loadBalancerIPs: [{ ip: '198.18.0.1', ipMode: 'VIP' }],
};

function pods(count: number, from = 0): SliceEndpoint[] {
  return Array.from({ length: count }, (_, i) => {
    const number = from + i;
    return elsewhere(`10.${number >> 16}.${(number >> 8) & 0xff}.${number & 0xff}`);
  });
}

function ports(
  count: number,
): { name: string; protocol: string; port: number; nodePort: number }[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `p${i}`,
    protocol: 'TCP',
    port: 1000 + i,
    nodePort: 0,
  }));
}

/** Counts each address that is read out of the slice. */
function counted(slice: SliceObject, count: () => void): SliceObject {
  const endpoints = slice.endpoints.map((each) =>
    Object.defineProperty({ ...each }, 'address', {
      get: () => {
        count();
        return each.address;
      },
    }),
  );
  return { ...slice, endpoints };
}

function loaded(fields: Partial<ServiceObject>, slices: readonly SliceObject[]): ForwardingTable {
  const table = new ForwardingTable(view());
  table.putService(service({ clusterIPs: ['10.96.0.1'], ...fields }));
  for (const each of slices) table.putSlice(each);
  table.takeChanges();
  return table;
}

describe('a large Service', () => {
  it('reads only the slice that changed', () => {
    let reads = 0;
    const slices = Array.from({ length: 50 }, (_, i) =>
      counted(slice(pods(100, 100 * i), { name: `web-${i}` }), () => reads++),
    );
    const table = loaded({}, slices);
    reads = 0;
    table.putSlice(counted(slice(pods(99, 700), { name: 'web-7' }), () => reads++));
    const [change, ...more] = table.takeChanges();
    assert.deepEqual(more, []);
    assert.equal(change?.after?.clusterEndpoints.length, 4999);
    assert.ok(reads <= 2 * 99, `${reads} addresses were read`);
  });

  it('keeps the same source ranges when endpoints or other fields change', () => {
    const loadBalancerSourceRanges = Array.from({ length: 20 }, (_, i) => `10.${i}.0.0/16`);
    const table = loaded({ ...LOAD_BALANCER, loadBalancerSourceRanges }, []);
    const sources = () =>
      table.ofService('ns/web').flatMap((row) => row.frontends.map((f) => f.allowedSources))[1];
    const first = sources();
    assert.equal(first?.length, 20);
    table.putSlice(slice(pods(3)));
    assert.equal(sources(), first);
    const more = { affinitySeconds: 10, loadBalancerSourceRanges: [...loadBalancerSourceRanges] };
    table.putService(service({ ...LOAD_BALANCER, ...more }));
    assert.equal(table.ofService('ns/web')[0]?.affinitySeconds, 10);
    assert.equal(sources(), first);
  });

  it('gives the row of each port the endpoints of that port', () => {
    const slicePorts = ports(40).map(({ name, protocol, port }) => ({
      name,
      protocol,
      port: port + 7,
    }));
    const table = loaded({ ports: ports(40) }, [
      slice(pods(2), { ports: slicePorts.slice(0, 20) }),
      slice(pods(2, 5), { ports: slicePorts.slice(10), name: 'web-2' }),
    ]);
    const counts = table.ofService('ns/web').map((row) => row.clusterEndpoints.length);
    const expected = [...Array(10).fill(2), ...Array(10).fill(4), ...Array(20).fill(2)];
    assert.deepEqual(counts, expected);
    assert.equal(table.ofService('ns/web')[39]?.clusterEndpoints[0]?.port, 1046);
  });

  it('marks each frontend that an earlier of its ports owns, also after another slice changes', () => {
    const twice = [...ports(20), { name: 'again', protocol: 'TCP', port: 1003, nodePort: 0 }];
    const table = loaded({ ports: twice }, []);
    const losses = () => table.ofService('ns/web').map((row) => row.frontends[0]?.notServed);
    const expected = [...Array(20).fill(undefined), { reason: 'other-service', service: 'ns/web' }];
    assert.deepEqual(losses(), expected);
    table.putSlice(slice(pods(1), { ports: [{ name: 'again', protocol: 'TCP', port: 1 }] }));
    assert.deepEqual(losses(), expected);
    table.putSlice(slice(pods(1), { ports: [{ name: 'p3', protocol: 'TCP', port: 1 }] }));
    assert.deepEqual(losses(), expected);
  });

  it('takes time in proportion to its ports', () => {
    const change = (count: number) => {
      const all = ports(count);
      const of = { ports: all.map(({ name, protocol, port }) => ({ name, protocol, port })) };
      const table = loaded({ ports: all }, [slice(pods(2), of)]);
      let turn = 0;
      return () => {
        table.putSlice(slice(pods(2 + (turn++ % 2)), of));
        table.putService(
          service({ clusterIPs: ['10.96.0.1'], ports: turn % 2 ? all.toReversed() : all }),
        );
        table.takeChanges();
      };
    };
    const { times, text } = compare({ small: change(200), large: change(1600) });
    assert.ok(times <= 24, `8 times as many ports cost ${text}`);
  });

  it('takes time in proportion to its slices when it is loaded', () => {
    const load = (count: number) => {
      const slices = Array.from({ length: count }, (_, i) =>
        slice(pods(1, i), { name: `web-${(i * 7919) % count}` }),
      );
      return () => void loaded({}, slices);
    };
    const { times, text } = compare({ small: load(500), large: load(4000) });
    assert.ok(times <= 24, `8 times as many slices cost ${text}`);
  });

  it('takes time in proportion to its addresses', () => {
    const load = (count: number) => {
      const ips = Array.from({ length: count }, (_, i) => `198.18.${i >> 8}.${i & 0xff}`);
      const of = {
        externalIPs: ips,
        loadBalancerIPs: ips.map((ip) => ({ ip, ipMode: 'VIP' as const })),
      };
      return () => void loaded({ ...of, type: 'LoadBalancer' }, []);
    };
    const { times, text } = compare({ small: load(500), large: load(4000) });
    assert.ok(times <= 24, `8 times as many addresses cost ${text}`);
  });

  it('counts ready local endpoints without reading all endpoints for each port', () => {
    let reads = 0;
    const of = { ports: ports(100).map(({ name, protocol, port }) => ({ name, protocol, port })) };
    const slices = [
      counted(slice([...pods(500), endpoint('10.9.0.1'), endpoint('10.9.0.2')], of), () => reads++),
    ];
    const found = healthCheckOf({
      service: service({
        ...LOAD_BALANCER,
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 9,
      }),
      slices,
      family: 'IPv4',
      view: view(),
    });
    assert.equal(found?.localEndpoints, 2);
    assert.ok(reads < 1100, `${reads} addresses were read`);
  });
});

describe('an unchanged list', () => {
  it('is the same object in the next row', () => {
    const table = loaded({ externalIPs: ['198.18.0.1'] }, [slice(pods(2))]);
    const [before] = table.ofService('ns/web');
    table.putSlice(slice(pods(3)));
    const [after] = table.ofService('ns/web');
    assert.notEqual(after, before);
    assert.equal(after?.frontends, before?.frontends);
    assert.equal(after?.localEndpoints, before?.localEndpoints);
    table.putService(
      service({ clusterIPs: ['10.96.0.1'], externalIPs: ['198.18.0.1'], affinitySeconds: 9 }),
    );
    const [sticky] = table.ofService('ns/web');
    assert.equal(sticky?.clusterEndpoints, after?.clusterEndpoints);
    assert.equal(sticky?.frontends, before?.frontends);
  });

  it('makes nothing stale when only fields change that a proxy does not read', () => {
    const table = loaded({ externalIPs: ['198.18.0.1'] }, []);
    table.putService(service({ clusterIPs: ['10.96.0.1'], externalIPs: ['198.18.0.1'] }));
    assert.equal(table.hasChanges, false);
    table.putService(service({ clusterIPs: ['10.96.0.1'], externalIPs: ['198.18.0.2'] }));
    assert.equal(table.hasChanges, true);
  });
});

describe('many Services with external IPs', () => {
  const address = (number: number, first: number) =>
    [first, 18 + (number >> 16), (number >> 8) & 0xff, number & 0xff].join('.');

  function table(count: number, externalIp: (number: number) => string): ForwardingTable {
    const made = new ForwardingTable(view());
    for (let number = 0; number < count; number++) {
      const clusterIPs = [address(number, 10)];
      const externalIPs = [externalIp(number)];
      made.putService(service({ name: `s${number}`, clusterIPs, externalIPs }));
    }
    made.takeChanges();
    return made;
  }

  /** All addresses come to the machine, and go. */
  function moves(table: ForwardingTable, addresses: readonly string[]): () => void {
    return () => {
      for (const each of [addresses, []]) {
        table.setHost({ addresses: each, sockets: [] });
        table.takeChanges();
      }
    };
  }

  it('take time in proportion to their number when the machine gets and loses the addresses', () => {
    const own = (number: number) => address(number, 198);
    const change = (count: number) => {
      const addresses = Array.from({ length: count }, (_, number) => own(number));
      return moves(table(count, own), addresses);
    };
    const { times, text } = compare({ small: change(500), large: change(4000) });
    assert.ok(times <= 24, `8 times as many Services cost ${text}`);
  });

  it('take time in proportion to their number when all want the same address', () => {
    const change = (count: number) => () =>
      moves(
        table(count, () => '198.18.0.1'),
        ['198.18.0.1'],
      )();
    const { times, text } = compare({ small: change(500), large: change(4000) });
    assert.ok(times <= 24, `8 times as many Services cost ${text}`);
  });

  it('compiles only the one that changes, also when others have its port on an address of the machine', () => {
    const rows = table(100, (number) => address(number, 198));
    moves(rows, [])();
    rows.setHost({ addresses: [address(0, 198), address(1, 198)], sockets: [] });
    rows.takeChanges();
    const [clusterIPs, externalIPs] = [[address(0, 10)], [address(0, 198)]];
    const before = rows.ofService('ns/s1');
    rows.putService(service({ name: 's0', clusterIPs, externalIPs, createdAtSeconds: 1 }));
    rows.takeChanges();
    assert.equal(rows.ofService('ns/s1'), before);
  });
});
