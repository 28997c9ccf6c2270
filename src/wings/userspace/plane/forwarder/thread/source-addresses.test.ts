import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatIp } from '../../../../../addresses/ip.ts';
import { addressKey } from '../address-key.ts';
import { Sources } from './source-addresses.ts';

const ROUTES: Readonly<Record<string, { linkIndex: number; isLocal: boolean }>> = {
  '10.1.0.5': { linkIndex: 3, isLocal: false },
  '10.1.0.6': { linkIndex: 3, isLocal: false },
  '10.2.0.7': { linkIndex: 4, isLocal: false },
  '10.0.0.1': { linkIndex: 1, isLocal: true },
  'fd00::5': { linkIndex: 3, isLocal: false },
  'fd00::7': { linkIndex: 4, isLocal: false },
};

const keyOf = (address: string) => addressKey({ address, port: 80 });

function open() {
  const asked: string[] = [];
  const lookUp: ConstructorParameters<typeof Sources>[0]['lookUp'] = (address) => {
    asked.push(formatIp(address));
    return ROUTES[formatIp(address)];
  };
  const sources = new Sources({ lookUp });
  const canKeep = (client: string, endpoint: string, nowMs = 0): boolean =>
    sources.canKeep(keyOf(client), keyOf(endpoint), nowMs);
  return { asked, canKeep };
}

describe('the source address of a connection', () => {
  it("is the client's where both leave by different interfaces", () => {
    const { canKeep } = open();
    assert.ok(canKeep('10.1.0.5', '10.2.0.7'));
    assert.ok(canKeep('fd00::5', 'fd00::7'));
    assert.ok(canKeep('10.0.0.1', '10.2.0.7'), 'an address of this machine');
    assert.ok(canKeep('192.0.2.1', '10.2.0.7'), 'a client without a route');
  });

  it('is our own between neighbours, to itself, to this machine and from loopback', () => {
    const { canKeep } = open();
    assert.ok(!canKeep('10.1.0.5', '10.1.0.6'));
    assert.ok(!canKeep('10.1.0.5', '10.1.0.5'));
    assert.ok(!canKeep('10.1.0.5', '10.0.0.1'));
    assert.ok(!canKeep('127.0.0.1', '10.2.0.7'));
    assert.ok(!canKeep('::1', 'fd00::7'));
    assert.ok(!canKeep('fe80::1', 'fd00::7'), 'of one link');
    assert.ok(canKeep('fec0::1', 'fd00::7'), 'not of one link');
  });

  it('asks the kernel once in five seconds for each address', () => {
    const { asked, canKeep } = open();
    canKeep('10.1.0.5', '10.2.0.7', 0);
    canKeep('10.1.0.5', '10.2.0.7', 4_999);
    assert.equal(asked.length, 2);
    canKeep('10.1.0.5', '10.2.0.7', 5_000);
    assert.equal(asked.length, 4);
  });
});
