import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { it } from 'node:test';
import { processorsIn, takeProcessor } from './processor.ts';

/** Not that of guests which may be running. */
const USER = 'fairlead-processor-test';

it('reads the list of processors of a process', () => {
  assert.deepEqual(processorsIn('0'), [0]);
  assert.deepEqual(processorsIn('0-2,5'), [0, 1, 2, 5]);
});

it('gives each guest a processor of its own, and none when all are taken', async () => {
  const taken = await Promise.all(
    Array.from({ length: availableParallelism() + 1 }, () => takeProcessor(USER)),
  );
  const indexes = taken.map((processor) => processor?.index);
  assert.equal(new Set(indexes).size, taken.length, `${indexes}`);
  assert.ok(indexes.includes(undefined));
  for (const processor of taken) processor?.[Symbol.dispose]();
});

it('gives a processor again when its guest has ended', async () => {
  const first = await takeProcessor(USER);
  const { index } = first ?? {};
  first?.[Symbol.dispose]();
  using second = await takeProcessor(USER);
  assert.equal(second?.index, index);
});
