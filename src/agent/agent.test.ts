import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import { healthz, livez, readyz } from './conditions.ts';
import type { Acknowledged } from './observer.ts';
import { NODE, SETTINGS, Stage } from './testing/agent-stage.ts';
import { rejection } from './testing/fake-plane.ts';
import { numbered, synced } from './testing/many.ts';

test('calls no plane before the list of every kind is complete', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  stage.start();
  await clock.settle();
  stage.source.service(service());
  stage.source.node(NODE);
  for (const kind of ['service', 'slice', 'node'] as const) {
    stage.source.synced(kind);
    await clock.pass(5000);
    assert.deepEqual(stage.plane.calls, []);
  }
  assert.equal(stage.agent.conditions().listed.why, 'waiting for the initial list of serviceCidr');
  assert.equal(readyz(stage.agent.conditions()).ok, false);
  assert.equal(livez(stage.agent.conditions()).ok, true);
  stage.source.synced('serviceCidr');
  await clock.until('the first sync', () => stage.isEqual());
  assert.deepEqual(stage.plane.calls, ['inspect everything', 'apply']);
  assert.equal(healthz(stage.agent.conditions()).ok, true);
});

test('counts a Service with a policy Local while its endpoints are all on other nodes', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 3);
  const internal = () => stage.agent.noLocal().map(({ count }) => count)[0];
  assert.equal(internal(), 0);
  stage.source.service(service({ internalTrafficPolicy: 'Local' }));
  stage.source.slice(slice([endpoint('10.9.0.1', { nodeName: 'elsewhere' })]));
  await clock.until('it is written', () => stage.isEqual());
  assert.equal(internal(), 1);
  stage.source.slice(slice([endpoint('10.9.0.1', { nodeName: NODE.name })]));
  await clock.until('it is written', () => stage.isEqual());
  assert.equal(internal(), 0);
});

test('waits for machine addresses where node ports depend on them', async () => {
  const clock = new VirtualClock();
  const nodePorts = { addresses: ['192.0.2.0/24'], onLocalhost: false };
  await using stage = new Stage(clock, { settings: { ...SETTINGS, nodePorts } });
  stage.start();
  await clock.settle();
  stage.complete();
  await clock.pass(5000);
  assert.deepEqual(stage.plane.calls, []);
  stage.addresses.tell(['127.0.0.1', '192.0.2.7', '198.51.100.1']);
  await clock.until('facts', () => stage.plane.facts !== undefined);
  assert.deepEqual(stage.plane.facts?.nodePortAddresses, { IPv4: ['192.0.2.7'], IPv6: 'all' });
  stage.addresses.tell(['192.0.2.8']);
  await clock.settle();
  assert.deepEqual(stage.plane.facts?.nodePortAddresses.IPv4, ['192.0.2.8']);
});

test('waits for the inputs that the mode needs, and follows machine addresses', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock, { needs: { ownAddresses: true, namespaces: true } });
  stage.start();
  await clock.settle();
  stage.complete();
  await clock.pass(5000);
  const { why } = stage.agent.conditions().listed;
  assert.equal(why, 'waiting for the initial list of namespace, machine addresses');
  stage.source.synced('namespace');
  await clock.pass(5000);
  assert.deepEqual(stage.plane.calls, []);
  stage.addresses.tell(['192.0.2.7']);
  await clock.until('facts', () => stage.plane.facts !== undefined);
  assert.deepEqual(stage.plane.facts?.ownAddresses, ['192.0.2.7']);
  stage.addresses.tell(['10.96.0.10', '192.0.2.7', 'fe80::1']);
  await clock.settle();
  const { facts } = stage.plane;
  assert.deepEqual(facts?.ownAddresses, ['10.96.0.10', '192.0.2.7']);
  stage.addresses.tell(['10.96.0.10', '192.0.2.7', 'fe80::1', 'fe80::2']);
  await clock.settle();
  assert.equal(stage.plane.facts, facts);
});

test('does not write rows that a restart finds right', async () => {
  const clock = new VirtualClock();
  await using first = new Stage(clock);
  await synced(clock, first, 300);
  await using second = new Stage(clock);
  for (const [key, row] of first.plane.kernel) second.plane.kernel.set(key, row);
  const [lost = ''] = first.plane.kernel.keys();
  second.plane.kernel.delete(lost);
  await synced(clock, second, 300);
  assert.deepEqual(second.plane.calls, ['inspect everything', 'apply']);
  assert.deepEqual(
    second.plane.applied.flat().map(({ key }) => key),
    [lost],
  );
});

test('writes all events of one event loop iteration in one transaction', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 0);
  for (let i = 0; i < 50; i++) {
    stage.source.service(numbered('ns', i));
    await Promise.resolve();
  }
  await clock.settle();
  assert.equal(stage.plane.count('apply'), 1);
  assert.equal(stage.plane.kernel.size, 50);
});

test('collects changes during a transaction, and writes at most 128 rows in the next', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 0);
  stage.source.service(numbered('ns', 0));
  await clock.until('a first call', () => stage.plane.count('apply') === 1);
  for (let i = 1; i <= 300; i++) stage.source.service(numbered('ns', i));
  await clock.until('all', () => stage.isEqual());
  assert.deepEqual(
    stage.plane.applied.map(({ length }) => length),
    [1, 128, 128, 44],
  );
});

test('writes DNS and the API first at a start', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  stage.start();
  await clock.settle();
  for (let i = 0; i < 200; i++) stage.source.service(numbered('ns', i));
  const ports = [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 0 }];
  stage.source.service(numbered('ns', 201, { namespace: 'zz', name: 'dns', ports }));
  stage.complete();
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.plane.applied[0]?.[0]?.key, 'zz/dns:dns/UDP/IPv4');
});

for (const isNamed of [true, false]) {
  test(`a row that the kernel rejects, ${isNamed ? '' : 'not '}named, delays no other`, async () => {
    const clock = new VirtualClock();
    await using stage = new Stage(clock, { random: () => 0.5 });
    await synced(clock, stage, 0);
    const bad = 'ns/s00077/TCP/IPv4';
    stage.plane.fault = (call, changes) => {
      const isBad = call === 'apply' && changes.some(({ key }) => key === bad);
      if (isBad) throw rejection('BAD', 'rejected', isNamed ? bad : undefined);
    };
    for (let i = 0; i < 128; i++) stage.source.service(numbered('ns', i));
    for (let i = 0; i < 5; i++) await clock.settle();
    assert.equal(stage.plane.kernel.size, 127);
    assert.ok(stage.plane.count('apply') <= (isNamed ? 2 : 15), `${stage.plane.calls}`);
    await clock.pass(120_000);
    const { failingRows, rows, conditions } = stage.agent.snapshot();
    assert.deepEqual(
      failingRows.map(({ key, error }) => [key, error.code]),
      [[bad, 'BAD']],
    );
    assert.deepEqual(rows, { desired: 128, applied: 127, pending: 1 });
    // A restart would not help, so no probe fails; the failure is reported all the same.
    assert.deepEqual(livez(conditions), { ok: true, failing: [] });
    assert.equal(conditions.synced.isTrue, false);
    assert.equal(conditions.errorFree.isTrue, false);
    const attempts = failingRows[0]?.attempts ?? 0;
    assert.ok(attempts >= 9 && attempts <= 14, `${attempts} attempts in two minutes`);
    stage.plane.fault = () => undefined;
    await clock.until('the bad row', () => stage.isEqual());
    assert.equal(livez(stage.agent.conditions()).ok, true);
    assert.equal(stage.agent.snapshot().failingRowCount, 0);
  });
}

test('retries a rejected row at once when it changes', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 1);
  stage.plane.fault = (call, changes) => {
    if (call === 'apply' && changes.some(({ after }) => after?.affinitySeconds === 7)) {
      throw rejection('BAD', 'rejected');
    }
  };
  stage.source.service(numbered('ns', 0, { affinitySeconds: 7 }));
  await clock.pass(60_000);
  assert.equal(stage.agent.snapshot().failingRowCount, 1);
  stage.source.service(numbered('ns', 0, { affinitySeconds: 8 }));
  await clock.settle();
  assert.ok(stage.isEqual());
});

test('backs off from a kernel that rejects everything, and writes all when it accepts again', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 0);
  stage.plane.fault = () => {
    throw rejection('GONE', 'the plane is gone');
  };
  for (let i = 0; i < 2000; i++) stage.source.service(numbered('ns', i));
  await clock.settle();
  await clock.settle();
  assert.ok(stage.plane.calls.length <= 20, `${stage.plane.calls.length} calls at once`);
  for (let i = 0; i < 600; i++) {
    stage.source.service(numbered('ns', 2000 + i));
    await clock.pass(1000);
  }
  assert.ok(stage.plane.calls.length < 300, `${stage.plane.calls.length} calls in ten minutes`);
  const { conditions } = stage.agent.snapshot();
  assert.equal(livez(conditions).ok, false);
  assert.match(conditions.errorFree.why, /GONE/);
  stage.plane.fault = () => undefined;
  const healedAtMs = clock.monotonicMs();
  await clock.until('all', () => stage.isEqual() && livez(stage.agent.conditions()).ok);
  const neededMs = clock.monotonicMs() - healedAtMs;
  assert.ok(neededMs <= SETTINGS.syncPeriodMs + 5000, `${neededMs} ms`);
});

test('counts nothing as applied before the kernel has acknowledged it', async () => {
  const clock = new VirtualClock();
  const seen: Acknowledged[] = [];
  const observers = [{ onAcknowledged: (a: Acknowledged) => void seen.push(a) }];
  await using stage = new Stage(clock, { observers });
  await synced(clock, stage, 0);
  let isOpen = false;
  stage.plane.fault = (call) => {
    if (call === 'apply' && !isOpen) throw rejection('BUSY', 'not now');
  };
  stage.source.service(numbered('ns', 1));
  await clock.settle();
  assert.equal(seen.length, 0);
  assert.deepEqual(stage.agent.snapshot().rows, { desired: 1, applied: 0, pending: 1 });
  isOpen = true;
  await clock.until('the row', () => stage.isEqual());
  assert.deepEqual(
    seen[0]?.changes.map(({ key, before }) => [key, before]),
    [['ns/s00001/TCP/IPv4', undefined]],
  );
});

test('changes nothing while the API is unreachable, and reports it', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 5);
  const calls = stage.plane.calls.length;
  stage.source.isConnected = false;
  await clock.pass(400_000);
  assert.equal(stage.plane.calls.length, calls);
  const { conditions } = stage.agent.snapshot();
  assert.equal(conditions.apiFresh.isTrue, false);
  assert.equal(conditions.connected.slice.isTrue, false);
  assert.ok(clock.wallMs() - conditions.connected.slice.sinceMs >= 398_000);
  assert.equal(healthz(conditions).ok, true);
});

test('retries a first inspection that failed, and is unhealthy meanwhile', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  stage.plane.fault = () => {
    throw rejection('DENIED', 'operation not permitted');
  };
  stage.start();
  await clock.settle();
  stage.source.service(service());
  stage.complete();
  await clock.pass(61_000);
  assert.ok(stage.plane.calls.every((call) => call === 'inspect everything'));
  const { conditions } = stage.agent.snapshot();
  assert.deepEqual(readyz(conditions).failing, ['firstSync', 'timely.IPv4', 'timely.IPv6']);
  stage.plane.fault = () => undefined;
  await clock.until('the first sync', () => stage.isEqual());
  assert.equal(healthz(stage.agent.conditions()).ok, true);
});

test('is unhealthy while a call hangs', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 1);
  const hanging = Promise.withResolvers<void>();
  const { apply } = stage.plane;
  stage.plane.apply = async (changes) => {
    await hanging.promise;
    await apply.call(stage.plane, changes);
  };
  stage.source.service(numbered('ns', 2));
  await clock.settle();
  stage.source.slice(slice([endpoint('fd00::7')], { addressType: 'IPv6', service: 's00001' }));
  await clock.pass(61_000);
  assert.equal(livez(stage.agent.conditions()).ok, false);
  assert.deepEqual(livez(stage.agent.conditions()).failing, ['timely.IPv4', 'timely.IPv6']);
  hanging.resolve();
  await clock.until('all', () => stage.isEqual());
});

test('writes two Services that exchange their addresses together', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 0);
  const [a, b] = [numbered('ns', 1), numbered('ns', 2)];
  stage.source.service(a);
  stage.source.service(b);
  await clock.until('both', () => stage.isEqual());
  stage.source.service({ ...a, clusterIPs: b.clusterIPs });
  for (let i = 100; i < 400; i++) stage.source.service(numbered('ns', i));
  stage.source.service({ ...b, clusterIPs: a.clusterIPs });
  const before = stage.plane.calls.length;
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.plane.calls.length - before, 3);
});

test('releases an address before another row gets it', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 1);
  const [address = ''] = numbered('ns', 0).clusterIPs;
  const heir = numbered('ns', 999, { clusterIPs: [address], createdAtSeconds: 1 });
  stage.source.service(heir);
  for (let i = 100; i < 300; i++) stage.source.service(numbered('ns', i));
  stage.source.gone('service', 'ns/s00000');
  const before = stage.plane.calls.length;
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.plane.calls.length - before, 2);
});

test('follows changed settings and a changed node', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock);
  await synced(clock, stage, 1);
  assert.deepEqual(stage.plane.facts?.serviceRanges, []);
  const object = { name: 'kubernetes', cidrs: ['10.96.0.0/16', '10.96.1.0/24'] };
  stage.source.tell({ kind: 'serviceCidr', type: 'put', key: 'kubernetes', object });
  await clock.settle();
  assert.deepEqual(stage.plane.facts?.serviceRanges, ['10.96.0.0/16']);
  stage.agent.reconfigure({ ...SETTINGS, masquerade: { all: true, markBit: 3 } });
  await clock.settle();
  assert.ok(stage.isEqual());
  const row = stage.plane.kernel.get('ns/s00000/TCP/IPv4');
  assert.equal(stage.agent.table.view.masqueradeAll, true);
  assert.ok(row);
  assert.equal(stage.plane.facts?.masqueradeMark, 1 << 14, 'the mark needs a restart');
  stage.agent.reconfigure({ ...SETTINGS, localTraffic: { by: 'NodeCIDR' } });
  await clock.settle();
  assert.deepEqual(stage.plane.facts?.podDetection.IPv4, { by: 'cidr', cidr: '10.1.0.0/24' });
  stage.source.gone('node', 'here');
  await clock.settle();
  assert.deepEqual(stage.plane.facts?.podDetection.IPv4, { by: 'cidr', cidr: '10.1.0.0/24' });
  assert.deepEqual(healthz(stage.agent.conditions()).failing, ['nodeEligible']);
});

test('isolates other observers from one that throws', async () => {
  const clock = new VirtualClock();
  const broken = {
    onAcknowledged: () => {
      throw new Error('a bug of an observer');
    },
  };
  await using stage = new Stage(clock, { observers: [broken] });
  await synced(clock, stage, 3);
  assert.deepEqual(stage.plane.violations, []);
});

test('ends with the error of a source that breaks its contract', async () => {
  const clock = new VirtualClock();
  const source = {
    health: () => [],
    run: async () => {
      throw new Error('a bug of the source');
    },
  };
  const stage = new Stage(clock, { source });
  await assert.rejects(stage.agent.run(new AbortController().signal), /a bug of the source/);
});
