import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseFilterTable } from './legacy-tables.ts';

it('reads policies, verdicts, jumps and interfaces from iptables-save', () => {
  const lines = [
    '-A FORWARD -i docker0 ! -o docker+ -j ACCEPT',
    '-A FORWARD -g DOCKER',
    '-A DOCKER -s 10.0.0.0/8 -j REJECT --reject-with icmp-port-unreachable',
    '-A DOCKER -m comment --comment nothing',
  ];
  const heads = ['*filter', ':INPUT ACCEPT [1:40]', ':FORWARD DROP [0:0]', ':DOCKER - [0:0]'];
  const text = [...heads, ...lines, 'COMMIT'].join('\n');
  assert.deepEqual(parseFilterTable(text), {
    chains: [
      { name: 'INPUT', base: { hook: 'input', policy: 'accept' } },
      { name: 'FORWARD', base: { hook: 'forward', policy: 'drop' } },
      { name: 'DOCKER' },
    ],
    rules: [
      { chain: 'FORWARD', id: 'rule 1', verdict: 'accept', interfaces: ['docker0', 'docker*'] },
      { chain: 'FORWARD', id: 'rule 2', jumpsTo: 'DOCKER', interfaces: [] },
      { chain: 'DOCKER', id: 'rule 1', verdict: 'reject', interfaces: [] },
      { chain: 'DOCKER', id: 'rule 2', interfaces: [] },
    ].map((rule, index) => ({ ...rule, text: lines[index] })),
  });
});
