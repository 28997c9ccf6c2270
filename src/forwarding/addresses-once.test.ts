import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notServedText } from './not-served-text.ts';
import { ForwardingTable } from './table.ts';
import { service, view } from './testing/example-objects.ts';

/** Every frontend of the Service in IPv4, as `kind address:port`, with the owner if it lost. */
function frontends(more: Parameters<typeof service>[0]): string[] {
  const table = new ForwardingTable(view());
  table.putService(service(more));
  return table
    .ofService('ns/web')
    .filter(({ id }) => id.family === 'IPv4')
    .flatMap((row) => row.frontends)
    .map(({ kind, address, port, notServed }) =>
      [
        `${kind} ${address}:${port}`,
        ...(notServed ? [`not served: ${notServedText(notServed)}`] : []),
      ].join(' '),
    );
}

describe('an address that a Service names twice', () => {
  it('is one frontend: that of the load balancer, which has the source ranges', () => {
    const found = frontends({
      type: 'LoadBalancer',
      externalIPs: ['198.18.0.1'],
      loadBalancerIPs: [{ ip: '198.18.0.1', ipMode: 'VIP' }],
    });
    assert.deepEqual(found, ['cluster-ip 10.96.0.1:80', 'load-balancer-ip 198.18.0.1:80']);
  });

  it('stays a cluster IP when it is one', () => {
    const found = frontends({ externalIPs: ['10.96.0.1'] });
    assert.deepEqual(found, ['cluster-ip 10.96.0.1:80']);
  });

  it('goes to the first of two ports with the same number', () => {
    const port = { protocol: 'TCP', port: 80, nodePort: 0 };
    const found = frontends({
      ports: [
        { ...port, name: 'a' },
        { ...port, name: 'b' },
      ],
    });
    assert.deepEqual(found, [
      'cluster-ip 10.96.0.1:80',
      'cluster-ip 10.96.0.1:80 not served: ns/web already has this address and port',
    ]);
  });
});
