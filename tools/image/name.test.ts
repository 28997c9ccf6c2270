import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullImageName } from './name.ts';

test('names are completed as runtimes do it', () => {
  const cases = {
    fairlead: 'docker.io/library/fairlead:latest',
    'fairlead:1': 'docker.io/library/fairlead:1',
    'team/fairlead:1': 'docker.io/team/fairlead:1',
    'localhost/fairlead:1': 'localhost/fairlead:1',
    'registry.example/a/b:1': 'registry.example/a/b:1',
    'registry:5000/fairlead': 'registry:5000/fairlead:latest',
  };
  for (const [given, full] of Object.entries(cases)) assert.equal(fullImageName(given), full);
});
