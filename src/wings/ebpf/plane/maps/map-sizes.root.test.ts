import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import { possibleCpus } from '../../../../linux/ebpf/map.ts';
import { openPinnedMap } from '../../../../linux/ebpf/map-create.ts';
import { testPlace } from '../testing/ebpf-place.ts';
import { clusterIp, FACTS, rowOf } from '../testing/ebpf-rows.ts';
import { mapSizes } from './map-sizes.ts';

const place = testPlace('sizes');
/** Tolerance for each map, and for the size of a structure that differs between kernels. */
const WITHIN = 0.03;
const WITHIN_BYTES = 512;

afterEach(() => place.newPlane().remove());
after(() => place.leave());

/** The memory of a map as the kernel reports it. */
function memoryOf(name: string): number {
  const map = openPinnedMap(join(place.pins, 'fairlead/maps', name));
  try {
    const info = readFileSync(`/proc/self/fdinfo/${map.fd}`, 'utf8');
    return Number(/^memlock:\s+(\d+)/m.exec(info)?.[1]);
  } finally {
    map.close();
  }
}

/** A list of 33 endpoints has room for 36: without that the second would need half of its slots. */
const SIZES = [
  { servicePorts: 100, endpointsPerPort: 5 },
  { servicePorts: 3800, endpointsPerPort: 33 },
  { servicePorts: 50_000, endpointsPerPort: 5 },
];

for (const { servicePorts, endpointsPerPort } of SIZES) {
  test(`${servicePorts} Services of ${endpointsPerPort} endpoints take the predicted memory`, async (t) => {
    const plane = place.newPlane();
    await plane.inspect({ facts: FACTS, rows: [] }, 'everything');
    const rows = Array.from({ length: servicePorts }, (_, n) =>
      rowOf(`s${n}`, {
        frontends: [clusterIp(`10.${96 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`)],
        endpoints: Array.from({ length: endpointsPerPort }, (_, e) => `10.244.${e}.1:${e + 1}`),
      }),
    );
    for (let from = 0; from < rows.length; from += plane.rowsPerStep) {
      const step = rows.slice(from, from + plane.rowsPerStep);
      await plane.apply(step.map((row) => change('absent', row)));
    }
    const cluster = { servicePorts, endpointsPerPort, frontendsPerPort: 1, nodeAddresses: 1 };
    for (const { map, bytes } of mapSizes(place.object.maps, {
      ...cluster,
      cpus: possibleCpus(),
    })) {
      const found = memoryOf(map);
      t.diagnostic(`${map}: ${bytes} said, ${found} taken`);
      const isNear = Math.abs(bytes - found) <= Math.max(found * WITHIN, WITHIN_BYTES);
      assert.ok(isNear, `${map}: ${bytes} bytes said, ${found} taken`);
    }
  });
}
