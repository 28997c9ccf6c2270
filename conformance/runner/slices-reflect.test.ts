import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSlice, Service } from '../../lab/api/objects.ts';
import type { Pod } from '../../lab/kubelet/pods.ts';
import type { World } from '../world.ts';
import { slicesReflect } from './slices-reflect.ts';

const ADDRESS = { ipv4: '10.1.1.1', ipv6: 'fd00:1::1' };

function worldOf(spec: Partial<Service['spec']> = {}): World {
  const ports = [{ name: 'tcp', port: 8080, protocol: 'TCP' }] as const;
  const pod = { spec: { labels: { app: 'web' }, ports }, address: ADDRESS } as unknown as Pod;
  const service: Service = {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'tcp' }], ...spec },
  };
  return {
    pods: new Map([['a', pod]]),
    services: new Map([['web', service]]),
    declarations: new Map(),
    notReady: new Set<string>(),
    terminating: new Set<string>(),
  } as unknown as World;
}

interface Written {
  readonly port?: number;
  readonly zones?: readonly string[];
  readonly nodes?: readonly string[];
}

function slicesWith({ port = 8080, zones, nodes }: Written = {}): EndpointSlice[] {
  const forZones = zones?.map((name) => ({ name }));
  const forNodes = nodes?.map((name) => ({ name }));
  const hints = { ...(forZones ? { forZones } : {}), ...(forNodes ? { forNodes } : {}) };
  return (['ipv4', 'ipv6'] as const).map((family) => ({
    metadata: { name: `web-${family}`, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: family === 'ipv4' ? 'IPv4' : 'IPv6',
    ports: [{ name: '', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [ADDRESS[family]], conditions: { ready: true }, hints }],
  }));
}

describe('slicesReflect()', () => {
  it('holds for slices that say what pods and Services say', () => {
    assert.equal(slicesReflect(worldOf(), slicesWith()), true);
    assert.equal(slicesReflect(worldOf(), []), false);
  });

  it('waits for the target port, by number or by name', () => {
    const byNumber = worldOf({ ports: [{ port: 80, targetPort: 9090 }] });
    assert.equal(slicesReflect(byNumber, slicesWith()), false);
    assert.equal(slicesReflect(byNumber, slicesWith({ port: 9090 })), true);
    const unknown = worldOf({ ports: [{ port: 80, targetPort: 'other' }] });
    assert.equal(slicesReflect(unknown, slicesWith()), false);
  });

  it('waits until an endpoint that moves to another slice has left the old one', () => {
    const both = [...slicesWith({ port: 9090 }), ...slicesWith()];
    assert.equal(slicesReflect(worldOf(), both), false);
  });

  it('waits for hints to come and to go', () => {
    const zone = worldOf({ trafficDistribution: 'PreferSameZone' });
    assert.equal(slicesReflect(zone, slicesWith()), false);
    assert.equal(slicesReflect(zone, slicesWith({ zones: ['zone-a'] })), true);
    assert.equal(slicesReflect(worldOf(), slicesWith({ zones: ['zone-a'] })), false);
    const node = worldOf({ trafficDistribution: 'PreferSameNode' });
    assert.equal(slicesReflect(node, slicesWith({ zones: ['zone-a'] })), false);
    assert.equal(slicesReflect(node, slicesWith({ zones: ['zone-a'], nodes: ['node1'] })), true);
  });
});
