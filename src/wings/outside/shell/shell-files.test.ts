import assert from 'node:assert/strict';
import { it } from 'node:test';
import { buildConfig } from '../../../config/load-config.ts';
import { nsswitchConf, resolvConf, shellConfig } from './shell-files.ts';

it('asks the stub first, and another server only where there is one', () => {
  const of = { namespace: 'shop', clusterDomain: 'cluster.local' };
  const alone = resolvConf({ ...of, hasOtherNetworks: false }).split('\n');
  const search = 'search shop.svc.cluster.local svc.cluster.local cluster.local';
  const options = 'options ndots:2 timeout:2';
  assert.deepEqual(alone, ['nameserver 127.0.0.1', search, options, '']);
  const both = resolvConf({ ...of, hasOtherNetworks: true }).split('\n');
  assert.deepEqual(both.slice(0, 2), ['nameserver 127.0.0.1', 'nameserver 198.18.118.3']);
});

it('leaves out services of the machine that do not know names of the cluster', () => {
  const text = 'passwd: files\nhosts: files resolve [!UNAVAIL=return] dns\nservices: db\n';
  assert.equal(nsswitchConf(text), 'passwd: files\nhosts: files dns\nservices: db\n');
});

it('configures an agent that serves every ClusterIP, without a warning', () => {
  const of = { kubeconfig: '/x', namespaces: [], clusterDomain: 'cluster.local', oomScoreAdj: 0 };
  const config = buildConfig(new Map(), { path: '/config.conf', text: shellConfig(of) });
  assert.equal(config.settings.servedAddresses.allClusterIPs, true);
  assert.deepEqual(config.warnings, []);
});
