import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Candidate } from '../../forwarding/candidates.ts';
import { ignoredHints } from './ignored-hints.ts';
import { candidate } from './testing/example-surroundings.ts';

const NODE = { zone: 'a', nodeName: 'node1' };

function ready(...zoneHints: readonly string[]): Candidate {
  const verdicts = { cluster: 'selected', local: 'list not used' } as const;
  return candidate({ state: 'ready', verdicts, zoneHints });
}

function said(candidates: readonly Candidate[], node = NODE): string {
  return ignoredHints(candidates, node)
    .map(({ text }) => text)
    .join();
}

describe('topology hints that are ignored', () => {
  it('are said to be incomplete if an endpoint has none', () => {
    assert.equal(
      said([ready('a'), ready()]),
      'topology hints are ignored: only 1 of 2 ready endpoints has one for a zone, and hints count if all have one',
    );
  });

  it('are said to be for other zones', () => {
    assert.match(said([ready('b'), ready('c')]), /none is for zone a, only for b, c$/);
  });

  it('are said to need a zone of the node', () => {
    assert.match(
      said([ready('a')], { ...NODE, zone: '' }),
      /this node has no zone \(label topology/,
    );
  });

  it('are nothing to tell of where there are none, or where they are obeyed', () => {
    assert.equal(said([ready(), ready()]), '');
    assert.equal(said([ready('a'), ready('a')]), '');
    const other = {
      ...ready('b'),
      verdicts: { cluster: 'hinted for another zone', local: 'list not used' },
    } as const;
    assert.equal(said([ready('a'), other]), '');
  });

  it('do not count endpoints that are not ready', () => {
    assert.equal(said([ready('a'), candidate()]), '');
  });

  it('may be for nodes', () => {
    const hinted = { ...ready(), nodeHints: ['node2'] };
    assert.match(said([hinted]), /none is for node node1, only for node2$/);
  });
});
