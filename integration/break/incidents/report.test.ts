import assert from 'node:assert/strict';
import { it } from 'node:test';
import { incidentsMarkdown, incidentsTable } from './report.ts';
import type { IncidentResult } from './result.ts';

const INCIDENT = {
  name: 'a | b',
  gets: ['refused'],
  explain: { typed: 'explain x', code: 'X', exit: 3, says: /x/, cause: /x/ },
} as const;
const RIGHT: IncidentResult = {
  incident: INCIDENT,
  observed: {
    got: ['refused', 'refused'],
    explain: { command: '', exit: 3, text: '', code: 'X', firstLine: 'X', next: [] },
    also: [],
  },
  faults: [],
  commandsToCause: 1,
  seconds: 1.25,
};
const FAILED: IncidentResult = {
  ...RIGHT,
  observed: undefined,
  faults: ['not produced'],
  commandsToCause: undefined,
};
const REPORT = {
  proxy: 'fairlead-nftables',
  results: [RIGHT, FAILED],
  leftOut: [{ name: 'c', reason: 'it has no programs' }],
};

it('shows each incident in a row, with what is wrong, and those that were not asked', () => {
  const lines = incidentsTable(REPORT).split('\n');
  assert.match(lines[1] ?? '', /^a \| b +refused +X +3 +1 +1\.3 s +right$/);
  assert.match(lines[2] ?? '', /- +- +- +- .*WRONG: not produced$/);
  assert.match(lines.slice(-2).join(), /1 of 2 incidents right.*not asked: c: it has no programs/);
});

it('escapes what would end a cell of a table in a document', () => {
  const text = incidentsMarkdown(REPORT);
  assert.match(text, /^\| a \\\| b \| refused \| `X` \| 3 \| 1 \| right \|$/m);
  assert.match(text, /Not asked in this mode: c \(it has no programs\)$/);
});
