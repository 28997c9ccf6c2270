import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SourcePorts } from './source-ports.ts';

const PORTS = 18_000;

describe('SourcePorts', () => {
  it('gives every port once before one comes back', () => {
    const ports = new SourcePorts(() => 0);
    const given = Array.from({ length: PORTS }, () => ports.take());
    assert.equal(new Set(given).size, PORTS);
    assert.equal(ports.take(), given[0]);
  });

  it('holds a port back for the lifetime of the conntrack entry of a failed attempt', () => {
    let nowMs = 0;
    const ports = new SourcePorts(() => nowMs);
    const failed = ports.take();
    ports.failed(failed);
    const round = (): number[] => Array.from({ length: PORTS - 1 }, () => ports.take());
    assert.ok(!round().includes(failed));
    nowMs = 120_000;
    assert.ok(!round().includes(failed));
    nowMs = 131_000;
    assert.ok(round().includes(failed));
  });

  it('has enough of them for a try every ten milliseconds that all fail', () => {
    let nowMs = 0;
    const ports = new SourcePorts(() => nowMs);
    for (; nowMs < 600_000; nowMs += 10) ports.failed(ports.take());
  });

  it('throws when every port is held back', () => {
    const ports = new SourcePorts(() => 0);
    for (let count = 0; count < PORTS; count++) ports.failed(ports.take());
    assert.throws(() => ports.take(), { code: 'LAB_USAGE' });
  });
});
