import assert from 'node:assert/strict';
import { it } from 'node:test';
import { misled } from './flips.ts';

const ACKNOWLEDGEMENTS = [
  { begunMs: 0, acknowledgedMs: 1, endpoints: ['left'] },
  { begunMs: 10, acknowledgedMs: 12, endpoints: ['right'] },
  { begunMs: 20, acknowledgedMs: 22, endpoints: ['left'] },
];

function misledFrom(begunMs: number, answeredMs: number, by: string): boolean {
  return misled([{ begunMs, answeredMs, by }], ACKNOWLEDGEMENTS, (name) => name).length > 0;
}

it('misled() finds a connection begun after the removal was acknowledged', () => {
  assert.equal(misledFrom(13, 14, 'left'), true);
  assert.equal(misledFrom(23, 24, 'right'), true);
});

it('misled() lets pass what was begun before the acknowledgement, or ended after a return', () => {
  assert.equal(misledFrom(11, 15, 'left'), false);
  assert.equal(misledFrom(13, 21, 'left'), false);
  assert.equal(misledFrom(30, 31, 'left'), false);
});

it('misled() finds an answer of a pod that has never been an endpoint', () => {
  assert.equal(misledFrom(5, 6, 'stranger'), true);
});
