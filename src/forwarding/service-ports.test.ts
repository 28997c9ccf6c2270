import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceObject } from '../cluster/objects.ts';
import { healthCheckPortOf, type ServicePort, servicePorts } from './service-ports.ts';
import { service, view } from './testing/example-objects.ts';

function first(
  more: Partial<ServiceObject>,
  family: 'IPv4' | 'IPv6' = 'IPv4',
): ServicePort | undefined {
  return servicePorts(service(more), family, view())[0];
}

const VIP = [
  { ip: '198.18.0.1', ipMode: 'VIP' as const },
  { ip: 'fd00:18::1', ipMode: 'VIP' as const },
];

describe('servicePorts()', () => {
  it('ignores a Service that is not for a proxy, or for another one', () => {
    assert.equal(first({ type: 'ExternalName' }), undefined);
    assert.equal(first({ labels: { proxyName: 'mine' } }), undefined);
    assert.equal(first({ clusterIPs: [] }), undefined);
    assert.equal(first({ clusterIPs: ['fd00:96::1'] }), undefined);
    assert.equal(
      first({ ports: [{ name: '', protocol: 'QUIC', port: 1, nodePort: 0 }] }),
      undefined,
    );
  });

  it('reads addresses in every spelling, without duplicates, and skips invalid ones', () => {
    const port = first({ externalIPs: ['198.018.0.1', '198.18.0.1', 'nonsense', 'fd00:18:0::1'] });
    assert.deepEqual(port?.externalIPs, ['198.18.0.1']);
  });

  it('ignores external addresses where they are not allowed', () => {
    const of = service({ externalIPs: ['198.18.0.1'] });
    const [port] = servicePorts(of, 'IPv4', view({ allowExternalIPs: false }));
    assert.deepEqual(port?.externalIPs, []);
  });

  it('leaves out node ports and load balancers where they are not served', () => {
    const ports = [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }];
    const of = service({ type: 'LoadBalancer', ports, loadBalancerIPs: VIP });
    const [port] = servicePorts(of, 'IPv4', view({ unserved: ['load-balancer-ip', 'node-port'] }));
    assert.deepEqual([port?.loadBalancerIPs, port?.nodePort], [[], 0]);
    const [other] = servicePorts(of, 'IPv4', view({ unserved: ['external-ip'] }));
    assert.deepEqual([other?.loadBalancerIPs, other?.nodePort], [['198.18.0.1'], 30_080]);
  });

  it('gives a health-check port only where node ports are served', () => {
    const externalTrafficPolicy = 'Local';
    const of = service({
      type: 'LoadBalancer',
      externalTrafficPolicy,
      healthCheckNodePort: 31_999,
    });
    assert.equal(healthCheckPortOf(of, view()), 31_999);
    assert.equal(healthCheckPortOf(of, view({ unserved: ['node-port'] })), 0);
  });

  it('takes the first of two ports of one name and protocol', () => {
    const ports = [80, 81].map((port) => ({ name: 'a', protocol: 'TCP', port, nodePort: 0 }));
    const found = servicePorts(service({ ports }), 'IPv4', view());
    assert.deepEqual(
      found.map(({ port }) => port),
      [80],
    );
  });

  it('ignores load balancers that must receive the traffic themselves', () => {
    const loadBalancerIPs = [{ ip: '198.18.0.1', ipMode: 'Proxy' as const }];
    assert.deepEqual(first({ loadBalancerIPs })?.loadBalancerIPs, []);
  });

  describe('allowedSources', () => {
    const allowed = (
      ranges: string[],
      family: 'IPv4' | 'IPv6' = 'IPv4',
    ): readonly string[] | undefined =>
      first({ loadBalancerIPs: VIP, loadBalancerSourceRanges: ranges }, family)?.allowedSources;

    it('is every source without ranges, or with a range that contains all addresses', () => {
      assert.equal(allowed([]), undefined);
      assert.equal(allowed(['10.0.0.0/8', '0.0.0.0/0']), undefined);
      assert.equal(allowed(['0.0.0.0/0'], 'IPv6'), undefined);
    });

    it('is empty for a family that has no range', () => {
      assert.deepEqual(allowed(['10.0.0.0/8'], 'IPv6'), []);
    });

    it('is in the order of the Service, canonical, and each range once', () => {
      assert.deepEqual(allowed([' 10.1.2.3/8', '10.0.0.0/8', '1.0.0.0/8']), [
        '10.0.0.0/8',
        '1.0.0.0/8',
      ]);
    });

    it('holds the address itself when the node is inside a range', () => {
      assert.deepEqual(allowed(['172.30.0.0/16']), ['172.30.0.0/16', '198.18.0.1/32']);
    });
  });

  it('counts an external policy only where traffic can come from outside', () => {
    const local = { externalTrafficPolicy: 'Local' as const };
    assert.equal(first(local)?.externalLocal, false);
    assert.equal(first({ ...local, type: 'NodePort' })?.externalLocal, true);
    assert.equal(first({ ...local, externalIPs: ['198.18.0.1'] })?.externalLocal, true);
  });
});
