import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backingOf } from './backing.ts';
import { candidatesOf } from './candidates.ts';
import { elsewhere, service, slice, view } from './testing/example-objects.ts';

const HTTP = { name: 'http', protocol: 'TCP', port: 8080 };

describe('what stands behind a row', () => {
  it('is the slices and endpoints of its family, with each port once', () => {
    const slices = [
      slice([elsewhere('10.0.0.2')], { ports: [HTTP] }),
      slice([elsewhere('10.0.0.3'), elsewhere('10.0.0.4')], { name: 'b', ports: [HTTP] }),
      slice([], { name: 'c', ports: [{ ...HTTP, name: 'web' }], addressType: 'IPv6' }),
    ];
    const { slices: count, endpoints, ports } = backingOf(service(), slices, 'IPv4');
    assert.deepEqual([count, endpoints, ports], [2, 3, [{ name: 'http', protocol: 'TCP' }]]);
  });

  it('says whether Kubernetes makes the slices', () => {
    assert.equal(backingOf(service(), [], 'IPv4').hasSelector, false);
    assert.equal(backingOf(service({ selectorHash: 1 }), [], 'IPv4').hasSelector, true);
  });

  it('is bounded, whatever the slices have', () => {
    const ports = Array.from({ length: 100 }, (_, index) => ({ ...HTTP, name: `p${index}` }));
    assert.equal(backingOf(service(), [slice([], { ports })], 'IPv4').ports.length, 20);
  });
});

it('a candidate has its topology hints, obeyed or not', () => {
  const web = service();
  const [port] = web.ports;
  assert.ok(port);
  const slices = [slice([elsewhere('10.0.0.2', { zoneHints: ['b'] }), elsewhere('10.0.0.3')])];
  const id = { namespace: web.namespace, service: web.name, port: port.name } as const;
  const family = { protocol: 'TCP', family: 'IPv4' } as const;
  const found = candidatesOf({ service: web, slices, id: { ...id, ...family }, view: view() });
  assert.deepEqual(
    found.map(({ zoneHints }) => zoneHints),
    [['b'], undefined],
  );
});
