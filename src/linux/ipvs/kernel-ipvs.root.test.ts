import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import {
  type Destination,
  type IpvsWrite,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerId,
} from './ipvs-model.ts';
import { KernelIpvs } from './kernel-ipvs.ts';
import { isMarked } from './service-flags.ts';
import { ipvsadmLines, WITHOUT_IPVS } from './testing/load-ipvs.ts';

enterOwnNetwork();

const { EEXIST, ENOENT, ESRCH } = constants.errno;
const ipvs = new KernelIpvs();
const IDLE = { activeConnections: 0, inactiveConnections: 0 } as const;
const SCHEDULERS = [
  'rr',
  'wrr',
  'lc',
  'wlc',
  'lblc',
  'lblcr',
  'dh',
  'sh',
  'mh',
  'sed',
  'nq',
  'fo',
  'ovf',
];

function server(changed: Partial<VirtualServer> = {}): VirtualServer {
  return {
    protocol: 'TCP',
    address: '10.96.0.1',
    port: 80,
    scheduler: 'rr',
    schedulerFlags: [],
    persistenceSeconds: 0,
    ...changed,
  };
}

function destination(address: string, weight = 1): Destination {
  return { address, port: 8080, weight };
}

function add(added: VirtualServer, ...destinations: readonly Destination[]): IpvsWrite[] {
  const all = destinations.map(
    (each) => ({ do: 'add-destination', server: added, destination: each }) as const,
  );
  return [{ do: 'add-server', server: added }, ...all];
}

async function succeed(...writes: readonly IpvsWrite[]): Promise<void> {
  assert.deepEqual(await ipvs.write(writes), []);
}

/** The only virtual server that there is. */
async function readOnly() {
  const all = [...(await ipvs.read()).values()];
  assert.equal(all.length, 1);
  const [only] = all;
  assert.ok(only);
  return only;
}

describe('IPVS of the kernel', { skip: WITHOUT_IPVS }, () => {
  beforeEach(() => {
    run(['ipvsadm', '-C']);
  });

  for (const [protocol, option] of [
    ['TCP', '-t'],
    ['UDP', '-u'],
    ['SCTP', '--sctp-service'],
  ] as const) {
    it(`has ${protocol} servers of both families as they were written`, async () => {
      const four = server({ protocol });
      const six = server({ protocol, address: 'fd00:96::1', scheduler: 'lc' });
      await succeed(
        ...add(four, destination('10.244.0.1'), destination('10.244.0.2', 7)),
        ...add(six, destination('fd00:244::1', 0)),
      );
      assert.deepEqual(
        ipvsadmLines(),
        [
          `-A ${option} 10.96.0.1:80 -s rr`,
          `-A ${option} [fd00:96::1]:80 -s lc`,
          `-a ${option} 10.96.0.1:80 -r 10.244.0.1:8080 -m -w 1`,
          `-a ${option} 10.96.0.1:80 -r 10.244.0.2:8080 -m -w 7`,
          `-a ${option} [fd00:96::1]:80 -r [fd00:244::1]:8080 -m -w 0`,
        ].sort(),
      );
      const read = await ipvs.read();
      assert.deepEqual(
        [...read.keys()].sort(),
        [virtualServerId(four), virtualServerId(six)].sort(),
      );
      assert.deepEqual(read.get(virtualServerId(four)), {
        server: four,
        destinations: [
          { ...destination('10.244.0.2', 7), ...IDLE },
          { ...destination('10.244.0.1'), ...IDLE },
        ],
      });
      assert.deepEqual(read.get(virtualServerId(six)), {
        server: six,
        destinations: [{ ...destination('fd00:244::1', 0), ...IDLE }],
      });
    });
  }

  it('changes a server in place', async () => {
    await succeed(...add(server({ persistenceSeconds: 300 }), destination('10.244.0.1')));
    assert.match(ipvsadmLines().join('\n'), /-s rr -p 300$/m);
    const changed = server({ scheduler: 'sh', schedulerFlags: ['sh-fallback', 'sh-port'] });
    await succeed({ do: 'set-server', server: changed });
    assert.match(ipvsadmLines().join('\n'), /-s sh -b sh-fallback,sh-port$/m);
    const { server: read, destinations } = await readOnly();
    assert.deepEqual(read, changed);
    assert.equal(destinations.length, 1);
  });

  it('changes the weight of a destination, deletes destinations and servers', async () => {
    const of = server({ address: 'fd00:96::1' });
    await succeed(...add(of, destination('fd00:244::1'), destination('fd00:244::2')));
    await succeed(
      { do: 'set-destination', server: of, destination: destination('fd00:244::2', 0) },
      { do: 'delete-destination', server: of, destination: destination('fd00:244::1') },
    );
    const { destinations } = await readOnly();
    assert.deepEqual(destinations, [{ ...destination('fd00:244::2', 0), ...IDLE }]);
    await succeed({ do: 'delete-server', server: of });
    assert.deepEqual(ipvsadmLines(), []);
    assert.equal((await ipvs.read()).size, 0);
  });

  it('knows every scheduler', async () => {
    const servers = SCHEDULERS.map((scheduler, index) => server({ scheduler, port: index + 1 }));
    await succeed(...servers.map((each) => ({ do: 'add-server', server: each }) as const));
    const read = await ipvs.read();
    assert.deepEqual(
      servers.map((each) => read.get(virtualServerId(each))?.server.scheduler),
      SCHEDULERS,
    );
  });

  it('has the flags of a scheduler and persistence for both families', async () => {
    const servers = [
      server({ scheduler: 'mh', schedulerFlags: ['mh-port'], persistenceSeconds: 60 }),
      server({ address: 'fd00:96::1', scheduler: 'mh', schedulerFlags: ['mh-fallback'] }),
      server({ address: 'fd00:96::2', persistenceSeconds: 10_800 }),
    ];
    await succeed(...servers.map((each) => ({ do: 'add-server', server: each }) as const));
    const read = await ipvs.read();
    for (const each of servers) assert.deepEqual(read.get(virtualServerId(each))?.server, each);
    assert.match(ipvsadmLines().join('\n'), /-t 10\.96\.0\.1:80 -s mh -p 60 -b mh-port$/m);
  });

  it('names rejected writes of a batch with their errors, and does the others', async () => {
    const [first, second, unknown] = [1, 2, 3].map((port) => server({ port }));
    assert.ok(first && second && unknown);
    const broken = server({ port: 4, scheduler: 'nosuch' });
    const writes: IpvsWrite[] = [
      { do: 'add-server', server: first },
      { do: 'add-server', server: first },
      { do: 'add-destination', server: unknown, destination: destination('10.244.0.1') },
      { do: 'add-server', server: broken },
      { do: 'delete-destination', server: first, destination: destination('10.244.0.1') },
      { do: 'add-server', server: second },
    ];
    assert.deepEqual(await ipvs.write(writes), [
      { write: writes[1], errno: EEXIST },
      { write: writes[2], errno: ESRCH },
      { write: writes[3], errno: ENOENT },
      { write: writes[4], errno: ENOENT },
    ]);
    assert.deepEqual(
      [...(await ipvs.read()).keys()].sort(),
      [first, second].map(virtualServerId).sort(),
    );
  });

  it('names each of thousands of rejections, also the last', async () => {
    const writes = manyServers(3_000).map(
      (each) => ({ do: 'delete-server', server: each }) as const,
    );
    const rejections = await ipvs.write(writes);
    assert.deepEqual(
      rejections,
      writes.map((write) => ({ write, errno: ESRCH })),
    );
  });

  it('shows what another process has set and Fairlead never does', async () => {
    run(['ipvsadm', '-A', '-u', '10.96.0.1:80', '-s', 'rr', '-o']);
    run(['ipvsadm', '-a', '-u', '10.96.0.1:80', '-r', '10.244.0.1:80', '-g']);
    run(['ipvsadm', '-A', '-t', '10.96.0.1:80', '-s', 'wlc', '-p', '9', '-M', '255.255.255.0']);
    run(['ipvsadm', '-A', '-f', '7', '-s', 'rr']);
    const read = await ipvs.read();
    assert.equal(read.size, 2);
    const [udp, tcp] = (['UDP', 'TCP'] as const).map((protocol) =>
      read.get(virtualServerId({ protocol, address: '10.96.0.1', port: 80 })),
    );
    assert.deepEqual(udp?.server.schedulerFlags, ['ops', 'unmarked']);
    assert.equal(udp?.destinations[0]?.forwarding, 'route');
    assert.deepEqual(tcp?.server.schedulerFlags, ['netmask', 'unmarked']);
    const ours = server({ protocol: 'UDP' });
    const masqueraded = { address: '10.244.0.1', port: 80, weight: 1 };
    await succeed(
      { do: 'set-server', server: ours },
      { do: 'set-destination', server: ours, destination: masqueraded },
    );
    const repaired = (await ipvs.read()).get(virtualServerId(ours));
    assert.deepEqual(repaired, { server: ours, destinations: [{ ...masqueraded, ...IDLE }] });
  });

  it('keeps its mark, also while the server changes, and marks a server of another process', async () => {
    const [ours, theirs] = [server({ persistenceSeconds: 60 }), server({ port: 81 })];
    await succeed({ do: 'add-server', server: ours });
    run(['ipvsadm', '-A', '-t', '10.96.0.1:81', '-s', 'rr']);
    const marks = async () => {
      const read = await ipvs.read();
      return [ours, theirs].map((each) => {
        const found = read.get(virtualServerId(each));
        return found && isMarked(found.server);
      });
    };
    assert.deepEqual(await marks(), [true, false]);
    assert.deepEqual(ipvsadmLines(), [
      '-A -t 10.96.0.1:80 -s rr -p 60',
      '-A -t 10.96.0.1:81 -s rr',
    ]);
    const changed = { scheduler: 'mh', schedulerFlags: ['mh-port'], persistenceSeconds: 0 };
    await succeed(
      { do: 'set-server', server: { ...ours, ...changed } },
      { do: 'set-server', server: theirs },
    );
    assert.deepEqual(await marks(), [true, true]);
    assert.equal(ipvsadmLines()[0], '-A -t 10.96.0.1:80 -s mh -b mh-port');
    run(['ipvsadm', '-E', '-t', '10.96.0.1:80', '-s', 'rr']);
    assert.deepEqual(await marks(), [false, true]);
  });

  it('gives the destinations of some servers, and leaves out those that are gone', async () => {
    const [full, empty, gone] = [1, 2, 3].map((port) => server({ port }));
    assert.ok(full && empty && gone);
    await succeed(...add(full, destination('10.244.0.1', 5)), ...add(empty));
    const counts = { connections: 0, packetsIn: 0, packetsOut: 0, bytesIn: 0, bytesOut: 0 };
    const state = { ...destination('10.244.0.1', 5), ...IDLE, persistentConnections: 0, ...counts };
    assert.deepEqual(
      [...(await ipvs.destinationsOf([full, empty, gone]))],
      [
        [virtualServerId(full), [state]],
        [virtualServerId(empty), []],
      ],
    );
  });

  it('tells which virtual servers exist', async () => {
    const [full, empty, gone] = [1, 2, 3].map((port) => server({ port }));
    assert.ok(full && empty && gone);
    await succeed(...add(full, destination('10.244.0.1')), ...add(empty));
    const there = await ipvs.existing([gone, full, empty]);
    assert.deepEqual([...there], [full, empty].map(virtualServerId));
  });

  it('keeps a timeout that is set to 0', async () => {
    await ipvs.setTimeouts({ tcpSeconds: 86_400, tcpFinSeconds: 100, udpSeconds: 200 });
    await ipvs.setTimeouts({ tcpSeconds: 0, tcpFinSeconds: 0, udpSeconds: 30 });
    assert.deepEqual(await ipvs.timeouts(), {
      tcpSeconds: 86_400,
      tcpFinSeconds: 100,
      udpSeconds: 30,
    });
    assert.match(run(['ipvsadm', '-l', '--timeout']), /86400 100 30/);
  });
});

function manyServers(count: number): VirtualServerKey[] {
  return Array.from({ length: count }, (_, index) => ({
    protocol: 'TCP',
    address: `10.96.${index >> 8}.${index & 0xff}`,
    port: 80,
  }));
}
