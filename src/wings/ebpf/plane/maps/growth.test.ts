import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grownSizes } from './growth.ts';
import { MOST_SLOTS } from './layout.ts';

const frontends = { maxEntries: 8 };

test('doubles until the missing entries fit, and slots up to what an outcome can number', () => {
  const slots = { maxEntries: 16 };
  const grown = grownSizes({ slots, frontends }, { slots: 17, frontends: 1 });
  assert.deepEqual(
    grown,
    new Map([
      ['slots', 64],
      ['frontends', 16],
    ]),
  );
  const nearly = { maxEntries: MOST_SLOTS / 2 };
  const most = grownSizes({ slots: nearly, frontends }, { slots: MOST_SLOTS, frontends: 0 });
  assert.deepEqual(most, new Map([['slots', MOST_SLOTS]]));
});

test('rejects a change for which there is no further slot, instead of growing without limit', () => {
  const slots = { maxEntries: MOST_SLOTS };
  assert.throws(() => grownSizes({ slots, frontends }, { slots: 1, frontends: 0 }), {
    code: 'BPF_FULL',
  });
});
