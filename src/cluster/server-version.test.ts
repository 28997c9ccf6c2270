import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionIn } from './server-version.ts';

describe('versionIn', () => {
  const cases: [string, object, object][] = [
    ['is that of its program', { gitVersion: 'v1.37.1' }, { version: 'v1.37.1' }],
    [
      'is that of its program where it emulates no other',
      { gitVersion: 'v1.37.1', emulationMajor: '1', emulationMinor: '37' },
      { version: 'v1.37.1' },
    ],
    [
      'is what it emulates',
      { gitVersion: 'v1.36.4', emulationMajor: '1', emulationMinor: '33' },
      { version: 'v1.33', emulatedBy: 'v1.36.4' },
    ],
    [
      'is not mixed up with one that begins alike',
      { gitVersion: 'v1.36.4', emulationMajor: '1', emulationMinor: '3' },
      { version: 'v1.3', emulatedBy: 'v1.36.4' },
    ],
    [
      'may carry the mark of who built it',
      { gitVersion: 'v1.33.4-gke.1172000', major: '1', minor: '33+' },
      { version: 'v1.33.4-gke.1172000' },
    ],
    ['is not known where none is given', { major: '1' }, {}],
    ['is not known where it is no version', { gitVersion: 'v1 \u001b[31m' }, {}],
    ['is not known where it is not text', { gitVersion: 1.37 }, {}],
  ];
  for (const [title, answer, expected] of cases) {
    it(title, () => assert.deepEqual(versionIn(JSON.stringify(answer)), expected));
  }

  it('is undefined when the response is not JSON', () => assert.deepEqual(versionIn('<html>'), {}));
});
