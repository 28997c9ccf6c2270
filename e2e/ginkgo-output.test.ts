import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EndedSpec, readGinkgoProgress } from './ginkgo-output.ts';

const OUTPUT = `Running Suite: Kubernetes e2e suite - /cache
Will run 3 of 7405 specs

Running in parallel across 5 processes
------------------------------
• [2.623 seconds]
[sig-network] Services should be rejected when no endpoints exist [sig-network]
k8s.io/kubernetes/test/e2e/network/service.go:2257
------------------------------
S [SKIPPED] [0.104 seconds]
[sig-network] Services [It] should work after restarting apiserver [Disruptive] [sig-network, Disruptive]
------------------------------
• [FAILED] [122.613 seconds]
[sig-network] Services [It] should serve a basic endpoint from pods [Conformance] [sig-network, Conformance]
------------------------------
`;

const ENDED: EndedSpec[] = [
  {
    state: 'passed',
    seconds: 2.623,
    number: 1,
    of: 3,
    name: '[sig-network] Services should be rejected when no endpoints exist',
  },
  {
    state: 'skipped',
    seconds: 0.104,
    number: 2,
    of: 3,
    name: '[sig-network] Services should work after restarting apiserver [Disruptive]',
  },
  {
    state: 'failed',
    seconds: 122.613,
    number: 3,
    of: 3,
    name: '[sig-network] Services should serve a basic endpoint from pods [Conformance]',
  },
];

test('reports every completed spec with its name and result', () => {
  const told: EndedSpec[] = [];
  const progress = readGinkgoProgress((spec) => told.push(spec));
  progress.read(OUTPUT);
  assert.deepEqual(told, ENDED);
});

test('it does not matter where the output was cut', () => {
  const told: EndedSpec[] = [];
  const progress = readGinkgoProgress((spec) => told.push(spec));
  for (const character of OUTPUT) progress.read(character);
  assert.deepEqual(told, ENDED);
});

test('reads the name at the beginning with a single process', () => {
  const told: EndedSpec[] = [];
  const progress = readGinkgoProgress((spec) => told.push(spec));
  const rule = '-'.repeat(30);
  progress.read('Will run 1 of 7405 specs\n');
  progress.read(`${rule}\n[sig-network] Services should work [Disruptive] [sig-network]\n`);
  progress.read(`service.go:10\n  STEP: Creating a client\n• [30.721 seconds]\n${rule}\n`);
  const name = '[sig-network] Services should work [Disruptive]';
  assert.deepEqual(told, [{ state: 'passed', seconds: 30.721, number: 1, of: 1, name }]);
});
