import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SliceObject } from '../cluster/objects.ts';
import type { ServicePortId } from './model.ts';
import { ServingEndpoints } from './serving.ts';
import { ForwardingTable } from './table.ts';
import { endpoint, service, slice, TERMINATING, view } from './testing/example-objects.ts';

const DNS: ServicePortId = {
  namespace: 'ns',
  service: 'web',
  port: 'dns',
  protocol: 'UDP',
  family: 'IPv6',
};
const PORTS = [{ name: 'dns', protocol: 'UDP', port: 5353 }];
const IPV6 = { addressType: 'IPv6', ports: PORTS } as const;

function tableOf(...slices: readonly SliceObject[]): ForwardingTable {
  const table = new ForwardingTable(view());
  table.putService(service());
  for (const each of slices) table.putSlice(each);
  return table;
}

describe('an endpoint that terminates', () => {
  it('serves while its slice says so, however the slice spells its address', () => {
    const spellings = [
      ['IPv6', '2001:db8:0:0::1', '2001:db8::1'],
      ['IPv6', '2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
      ['IPv4', '010.0.0.1', '10.0.0.1'],
    ] as const;
    for (const [family, spelled, address] of spellings) {
      const serving = slice([endpoint(spelled, TERMINATING)], { ...IPV6, addressType: family });
      const table = tableOf(serving);
      const id = { ...DNS, family };
      assert.equal(table.isServing(id, { address, port: 5353 }), true, spelled);
      table.putSlice({
        ...serving,
        endpoints: [endpoint(spelled, { ...TERMINATING, serving: false })],
      });
      assert.equal(table.isServing(id, { address, port: 5353 }), false, spelled);
    }
  });

  it('serves the port of that name, protocol, number and family, and no other', () => {
    const table = tableOf(slice([endpoint('2001:db8::1', TERMINATING)], IPV6));
    const at = { address: '2001:db8::1', port: 5353 };
    assert.equal(table.isServing(DNS, at), true);
    assert.equal(table.isServing(DNS, { ...at, port: 53 }), false);
    assert.equal(table.isServing({ ...DNS, port: 'other' }, at), false);
    assert.equal(table.isServing({ ...DNS, protocol: 'TCP' }, at), false);
    assert.equal(table.isServing({ ...DNS, family: 'IPv4' }, at), false);
    assert.equal(table.isServing({ ...DNS, service: 'another' }, at), false);
  });

  it('serves no more when its slice has gone, or is of another Service', () => {
    const serving = slice([endpoint('2001:db8::1', TERMINATING)], IPV6);
    const at = { address: '2001:db8::1', port: 5353 };
    const table = tableOf(serving);
    assert.equal(table.isServing(DNS, at), true);
    table.putSlice({ ...serving, service: 'another' });
    assert.equal(table.isServing(DNS, at), false);
    assert.equal(table.isServing({ ...DNS, service: 'another' }, at), true);
    table.deleteSlice('ns/web-1');
    assert.equal(table.isServing({ ...DNS, service: 'another' }, at), false);
  });

  it('is found in a slice that changes among very many', () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      slice([endpoint(`2001:db8::${index}`)], { ...IPV6, name: `web-${index}` }),
    );
    const table = tableOf(...many);
    const at = { address: '2001:db8::7', port: 5353 };
    assert.equal(table.isServing(DNS, at), true);
    table.putSlice(
      slice([endpoint('2001:db8::7', { serving: false })], { ...IPV6, name: 'web-7' }),
    );
    assert.equal(table.isServing(DNS, at), false);
  });
});

describe('ServingEndpoints', () => {
  it('reads the slices once for many lookups and limits what it caches', () => {
    const serving = new ServingEndpoints(4);
    let readCount = 0;
    const ask = (name: string): boolean => {
      const slices = (): SliceObject[] => {
        readCount += 1;
        return [slice([endpoint('2001:db8::1'), endpoint('2001:db8::2')], IPV6)];
      };
      const at = { address: '2001:db8::2', port: 5353 };
      return serving.has({ ...DNS, service: name }, at, { slices, view: view() });
    };
    for (let asked = 0; asked < 1000; asked++) assert.ok(ask('a') && ask('b'));
    assert.equal(readCount, 2);
    assert.ok(ask('c'));
    assert.ok(ask('b') && ask('c'));
    assert.equal(readCount, 3);
    assert.ok(ask('a'));
    assert.equal(readCount, 4);
    serving.forget('ns/a');
    assert.ok(ask('a'));
    assert.equal(readCount, 5);
  });
});
