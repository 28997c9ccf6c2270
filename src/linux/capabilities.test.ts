import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capabilitiesIn } from './capabilities.ts';

const status = (effective: string): string => `Name:\tnode\nCapPrm:\tffff\nCapEff:\t${effective}\n`;

test('returns the effective capabilities, and no others', () => {
  assert.deepEqual([...capabilitiesIn(status('0000000000000000'))], []);
  assert.deepEqual([...capabilitiesIn(status('0000000000001000'))], ['NET_ADMIN']);
  assert.deepEqual([...capabilitiesIn(status('0000008000200000'))], ['SYS_ADMIN', 'BPF']);
  assert.equal(capabilitiesIn(status('000001ffffffffff')).size, 5);
});
