import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceObject } from '../cluster/objects.ts';
import { elsewhere, endpoint, service, slice } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import type { ServiceHealthCheck } from './health-checks.ts';
import { Stage } from './testing/agent-stage.ts';
import { rejection } from './testing/fake-plane.ts';
import { endpointsOf, numbered, startedStage } from './testing/many.ts';

const BALANCED = service({
  type: 'LoadBalancer',
  clusterIPs: ['10.96.0.1'],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 32100,
});

test('counts only Services with a health port, and reports each change once', async () => {
  const clock = new VirtualClock();
  const told: [string, ServiceHealthCheck['localEndpoints'] | undefined][] = [];
  const onHealthCheck = (name: string, check: ServiceHealthCheck | undefined): void =>
    void told.push([name, check?.localEndpoints]);
  await using stage = new Stage(clock, { observers: [{ onHealthCheck }] }).start();
  await clock.settle();
  stage.source.service(BALANCED);
  stage.source.service(service({ name: 'plain', clusterIPs: ['10.96.0.2'] }));
  stage.source.slice(slice([endpoint('10.0.0.1'), elsewhere('10.0.0.2')]));
  stage.complete();
  await clock.until('the first sync', () => stage.agent.conditions().synced.isTrue);
  stage.source.slice(slice([endpoint('10.0.0.1')], { name: 'web-2' }));
  await clock.settle();
  stage.source.slice(slice([endpoint('10.0.0.3')], { name: 'web-2' }));
  await clock.settle();
  stage.source.gone('slice', 'ns/web-1');
  await clock.settle();
  assert.deepEqual(stage.agent.healthChecks.get('ns/web'), {
    namespace: 'ns',
    name: 'web',
    port: 32100,
    localEndpoints: { IPv4: 1 },
  });
  stage.source.service({ ...BALANCED, externalTrafficPolicy: 'Cluster', healthCheckNodePort: 0 });
  await clock.settle();
  assert.equal(stage.agent.healthChecks.size, 0);
  assert.deepEqual(told, [
    ['ns/web', { IPv4: 0 }],
    ['ns/web', { IPv4: 1 }],
    ['ns/web', { IPv4: 2 }],
    ['ns/web', { IPv4: 1 }],
    ['ns/web', undefined],
  ]);
});

test('reports more endpoints after the kernel has the rows, and fewer at once', async () => {
  const clock = new VirtualClock();
  await using stage = new Stage(clock).start();
  await clock.settle();
  stage.source.service(BALANCED);
  stage.source.slice(slice([endpoint('10.0.0.1')]));
  stage.complete();
  await clock.until('the first sync', () => stage.agent.conditions().synced.isTrue);
  const count = (): number | undefined =>
    stage.agent.healthChecks.get('ns/web')?.localEndpoints.IPv4;
  stage.plane.fault = () => {
    throw rejection('BUSY', 'not now');
  };
  stage.source.slice(slice([endpoint('10.0.0.1'), endpoint('10.0.0.2')]));
  await clock.settle();
  assert.equal(count(), 1);
  stage.source.slice(slice([]));
  await clock.settle();
  assert.equal(count(), 0);
  stage.source.slice(slice([endpoint('10.0.0.2')]));
  await clock.settle();
  assert.equal(count(), 0);
  stage.plane.fault = () => undefined;
  await clock.until('good news', () => count() === 1);
  assert.ok(stage.isEqual());
});

function balanced(index: number): ServiceObject {
  const { type, externalTrafficPolicy, healthCheckNodePort } = BALANCED;
  return numbered('ns', index, { type, externalTrafficPolicy, healthCheckNodePort });
}

test('counts the endpoints of a Service once for each change, however long it is pending', async () => {
  const clock = new VirtualClock();
  await using stage = await startedStage(clock);
  const slicesOf = stage.agent.table.slicesOf.bind(stage.agent.table);
  let count = 0;
  stage.agent.table.slicesOf = (name) => {
    count++;
    return slicesOf(name);
  };
  for (let index = 0; index < 1000; index++) {
    stage.source.service(balanced(index));
  }
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.plane.count('apply'), 8);
  assert.equal(stage.agent.healthChecks.size, 1000);
  assert.ok(count <= 2000, `${count} counts of 1000 Services`);
});

test('does not report more endpoints of a Service whose rows are not compiled yet', async () => {
  const clock = new VirtualClock();
  const early: string[] = [];
  const onHealthCheck = (name: string, check: ServiceHealthCheck | undefined): void => {
    const isThere = stage.plane.kernel.get(`${name}/TCP/IPv4`)?.clusterEndpoints.length;
    if ((check?.localEndpoints.IPv4 ?? 0) > 0 && !isThere) early.push(name);
  };
  await using stage = await startedStage(clock, { observers: [{ onHealthCheck }] });
  for (let index = 0; index < 40; index++) {
    stage.source.service(balanced(index));
    const all = endpointsOf(balanced(index), 1000);
    stage.source.slice({ ...all, endpoints: [endpoint('10.0.0.1'), ...all.endpoints] });
  }
  await clock.until('all', () => stage.isEqual());
  assert.equal(stage.agent.healthChecks.get('ns/s00039')?.localEndpoints.IPv4, 1);
  assert.deepEqual(early, []);
});
