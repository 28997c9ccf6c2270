import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClusterAccess } from '../../cluster/access.ts';
import { buildConfig } from '../../config/load-config.ts';
import type { InitOptions } from './init-options.ts';
import { makePlan } from './init-plan.ts';
import { CONFIG_FILE } from './paths.ts';

const FACTS = {
  serviceRanges: ['10.96.0.0/12'],
  podRanges: ['10.244.0.0/16'],
  nodeCount: 3,
  nodeAddresses: new Map<string, string>(),
  dns: { namespace: 'kube-system', name: 'kube-dns', addresses: ['10.96.0.10'] },
};
const ACCESS: ClusterAccess = {
  server: new URL('https://192.0.2.1:6443'),
  tls: async () => ({ isUnverified: false }),
  token: async () => undefined,
  rejected: () => undefined,
  warnings: async () => [],
};
const OPTIONS: InitOptions = {
  name: 'db1',
  serviceAccountNamespace: 'kube-system',
  namespaces: [],
  services: [],
  mode: 'nftables',
  podCidr: [],
  serviceCidr: [],
  clusterDomain: 'cluster.local',
  tokenLifetime: 3600,
  renewal: true,
  root: '/',
};

async function plan(options: Partial<InitOptions>) {
  const program = ['/usr/local/bin/fairlead'];
  return await makePlan({
    options: { ...OPTIONS, ...options },
    facts: FACTS,
    access: ACCESS,
    program,
  });
}

const namespaces = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

it('makes a configuration that an agent accepts', async () => {
  assert.equal((await plan({})).files.length, 3);
  assert.equal((await plan({ namespaces: namespaces(44) })).scope?.namespaces.length, 44);
});

it('writes the Service ranges into the configuration, with a scope and without one', async () => {
  const rangesIn = async (options: Partial<InitOptions>) => {
    const { files, serviceRanges } = await plan(options);
    const [config] = files.filter(({ path }) => path === CONFIG_FILE);
    const { settings } = buildConfig(new Map(), { path: CONFIG_FILE, text: config?.text ?? '' });
    assert.deepEqual(settings.serviceRanges, serviceRanges);
    return serviceRanges;
  };
  assert.deepEqual(await rangesIn({}), ['10.96.0.0/12']);
  assert.deepEqual(await rangesIn({ namespaces: ['shop'] }), ['10.96.0.0/12']);
  const serviceCidr = ['10.96.0.0/16', 'fd00:96::/112'];
  assert.deepEqual(await rangesIn({ serviceCidr }), serviceCidr);
});

it('rejects a scope of more namespaces than an agent can watch', async () => {
  await assert.rejects(plan({ namespaces: namespaces(45) }), {
    code: 'OPTIONS_UNUSABLE',
    message: /fairlead\.scope.* is too large: its namespaces and services need 92 watches/,
  });
});

it('rejects pod ranges that a configuration cannot have', async () => {
  await assert.rejects(plan({ podCidr: ['10.244.0.0/16', '10.245.0.0/16'] }), {
    code: 'OPTIONS_UNUSABLE',
  });
});
