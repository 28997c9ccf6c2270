import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { modeNamed } from '../../modes/mode-registry.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import {
  assertServiceRanges,
  hasProgram,
  hiddenProgram,
  isLoopbackServer,
  planWarnings,
  programOf,
} from './init-preflight.ts';

const FACTS: ClusterFacts = {
  serviceRanges: ['10.96.0.0/12'],
  podRanges: ['10.244.0.0/16'],
  nodeCount: 3,
  nodeAddresses: new Map(),
  dns: { namespace: 'kube-system', name: 'kube-dns', addresses: ['10.96.0.10'] },
};
const PLAN = {
  account: { namespace: 'kube-system', name: 'fairlead-a' },
  server: 'https://192.0.2.1:6443',
  scope: undefined,
  podRanges: ['10.244.0.0/16'],
  serviceRanges: ['10.96.0.0/12'],
  hasNames: true,
  manifests: [],
  files: [],
};

function warningsOf(facts: Partial<ClusterFacts>, plan: Partial<typeof PLAN> = {}) {
  // For another machine: the networks of this one do not matter.
  const options = { root: '/elsewhere' } as Parameters<typeof planWarnings>[2];
  return planWarnings({ ...PLAN, ...plan }, { ...FACTS, ...facts }, options);
}

describe('a mode that starts programs of the machine', () => {
  it('is iptables, which needs the program of one backend', async (t) => {
    const folder = await mkdtemp(join(os.tmpdir(), 'fairlead-programs-'));
    t.after(() => rm(folder, { recursive: true }));
    const { programs = [] } = (await modeNamed('iptables')).service;
    assert.equal(hasProgram(programs, folder), false);
    await writeFile(join(folder, 'xtables-legacy-multi'), '');
    assert.equal(hasProgram(programs, `/no/such:${folder}`), true);
  });

  it('is no other', async () => {
    for (const mode of ['nftables', 'socket-ebpf', 'tc-ebpf'] as const) {
      assert.equal(hasProgram((await modeNamed(mode)).service.programs ?? [], '/no/such'), true);
    }
  });
});

describe('the program of a machine', () => {
  it('is this one here, and the usual one on another machine', () => {
    assert.deepEqual(programOf({ root: '/' }), [process.execPath, process.argv[1]]);
    assert.deepEqual(programOf({ root: '/x' }), ['/usr/local/bin/fairlead']);
    assert.deepEqual(programOf({ root: '/x', program: '/opt/fairlead' }), ['/opt/fairlead']);
  });

  it('is named when the sandbox of the service hides it', () => {
    const node = '/home/me/.nvm/versions/node/v24.0.0/bin/node';
    assert.equal(hiddenProgram([node, '/opt/fairlead.mjs']), node);
    assert.equal(hiddenProgram(['/usr/bin/env', '/tmp/fairlead.mjs']), '/tmp/fairlead.mjs');
    assert.equal(hiddenProgram(['/usr/bin/env', '/opt/nothing-there.mjs']), undefined);
  });
});

describe('isLoopbackServer', () => {
  for (const [server, isLoopback] of [
    ['https://127.0.0.1:6443', true],
    ['https://[::1]:6443', true],
    ['https://localhost:8443', true],
    ['https://192.0.2.1:6443', false],
    ['https://api.example', false],
  ] as const) {
    it(`is ${isLoopback} for ${server}`, () => {
      assert.equal(isLoopbackServer(server), isLoopback);
    });
  }
});

describe('a machine without known Service ranges', () => {
  it('is not set up, because it would serve nothing', () => {
    assert.throws(() => assertServiceRanges({ serviceRanges: [] }), {
      code: 'SERVICE_RANGES_UNKNOWN',
      next: /--service-cidr/,
    });
    assertServiceRanges(PLAN);
  });
});

describe('planWarnings', () => {
  it('asks whether this machine is a node when it has an address of one', (t) => {
    const own = { address: '192.0.2.7', cidr: '192.0.2.7/24', internal: false };
    t.mock.method(os, 'networkInterfaces', () => ({ eth0: [own] }));
    const nodeAddresses = new Map([['192.0.2.7', 'node3']]);
    const options = { root: '/' } as Parameters<typeof planWarnings>[2];
    const warnings = planWarnings(PLAN, { ...FACTS, nodeAddresses }, options);
    assert.match(warnings.join(), /an address of Node node3/);
  });

  it('has none when everything is known', () => {
    assert.deepEqual(warningsOf({}), []);
  });

  it('says what a missing fact means', () => {
    assert.match(warningsOf({}, { podRanges: [] }).join(), /3 Nodes name no common pod range/);
    const noRanges = warningsOf({ serviceRanges: [] }, { serviceRanges: [] }).join();
    assert.match(noRanges, /no ServiceCIDR objects .* not served; pass --service-cidr/);
    assert.deepEqual(warningsOf({ serviceRanges: [] }), []);
    assert.match(warningsOf({ dns: undefined }).join(), /names of Services will not work/);
  });
});
