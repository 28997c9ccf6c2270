import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CELLS, NOW, RISE, restart, sample, unreclaimableKib } from './meminfo.ts';
import { Slab } from './slab.ts';

describe('unreclaimableKib()', () => {
  it('reads the line of /proc/meminfo', () => {
    assert.equal(unreclaimableKib('SReclaimable:  10 kB\nSUnreclaim:     70892 kB\n'), 70_892);
  });

  it('rejects a text without it', () => {
    assert.throws(() => unreclaimableKib('MemTotal: 1 kB\n'), /SUnreclaim/);
  });
});

describe('sample()', () => {
  it('counts a rise from the lowest sample since the restart', () => {
    const cells = new Int32Array(CELLS);
    sample(cells, 500);
    restart(cells);
    for (const kib of [400, 300, 350, 900, 310]) sample(cells, kib);
    assert.deepEqual([cells[NOW], cells[RISE]], [310, 600]);
  });
});

describe('Slab', () => {
  it('samples the machine in a thread of its own, and ends it', async () => {
    await using slab = new Slab();
    await slab.start();
    assert.ok(slab.peakAboveBytes >= 0);
  });
});
