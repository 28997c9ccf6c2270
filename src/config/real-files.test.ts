import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { FIELD_PATHS, type FieldPath } from './fields/field-table.ts';
import type { FlagName } from './flags/flag-table.ts';
import type { GivenFlags } from './flags/read.ts';
import { buildConfig, type LoadedConfig } from './load-config.ts';
import { differentFields } from './testing/different-fields.ts';
import { toConfigurationYaml } from './write.ts';

/**
 * Files as they are found in clusters, and beside each what kube-proxy 1.37.1 made of it, recorded
 * with `kube-proxy --config FILE --write-config-to …`. `npm run compare -- config` asks it again.
 */
const FOLDER = join(import.meta.dirname, 'testdata');
const NO_FLAGS: GivenFlags = new Map();

function load(file: string): LoadedConfig {
  return buildConfig(NO_FLAGS, { path: file, text: readFileSync(join(FOLDER, file), 'utf8') });
}

/** The fields in which we come to another result than kube-proxy. */
function differences(config: LoadedConfig, recorded: string): readonly FieldPath[] {
  const path = join(FOLDER, 'written-by-kube-proxy', `${recorded}.yaml`);
  return differentFields(config, parse(readFileSync(path, 'utf8')));
}

test('reads the ConfigMap of kubeadm as kube-proxy does, except for the default mode', () => {
  const config = load('kubeadm.yaml');
  assert.deepEqual(differences(config, 'kubeadm'), [
    'mode',
    // Mode iptables serves node ports on all addresses; nftables must be configured to.
    'nodePortAddresses',
    // kube-proxy leaves the scheduler empty and takes rr later.
    'ipvs.scheduler',
  ]);
  assert.deepEqual(config.warnings, []);
  assert.deepEqual(config.settings, {
    mode: 'nftables',
    nodeObject: 'expected',
    ebpf: { pinFolder: '/sys/fs/bpf/fairlead' },
    api: { kubeconfigPath: '/var/lib/kube-proxy/kubeconfig.conf' },
    healthServer: { ip: '0.0.0.0', port: 10_256 },
    serviceMetrics: 0,
    metricsServer: { ip: '127.0.0.1', port: 10_249 },
    endsWhenServerFails: false,
    localTraffic: { by: 'ClusterCIDR', cidrs: ['10.244.0.0/16'] },
    podNetworks: ['10.244.0.0/16'],
    nodePorts: { addresses: 'all', onLocalhost: false },
    addressRules: 'strict',
    clients: 'everybody',
    servedAddresses: { allClusterIPs: true, externalIPs: true, loadBalancerIPs: true },
    serviceRanges: [],
    serviceRoutes: 'none',
    podNetwork: 'routed',
    clusterDns: [],
    clusterDomain: 'cluster.local',
    masquerade: { all: false, markBit: 14 },
    syncPeriodMs: 30_000,
    conntrack: {
      maxPerCore: 32_768,
      min: 131_072,
      tcpEstablishedTimeoutMs: 86_400_000,
      tcpCloseWaitTimeoutMs: 3_600_000,
      tcpBeLiberal: false,
    },
    ipvs: { scheduler: 'rr', excludeCidrs: [] },
    userspace: {},
    oomScoreAdj: -999,
    features: {
      serviceExternalIps: true,
      flagzPage: true,
      statuszPage: true,
      localhostNodePorts: false,
    },
    log: { format: 'text', verbosity: 0 },
  });
});

test('picks the right one of the documents that kind passes to kubeadm', () => {
  const config = load('kind.yaml');
  assert.deepEqual(differences(config, 'kind'), ['ipvs.scheduler']);
  assert.equal(config.settings.mode, 'nftables');
  assert.deepEqual(config.settings.localTraffic, {
    by: 'ClusterCIDR',
    cidrs: ['10.244.0.0/16', 'fd00:10:244::/56'],
  });
  assert.deepEqual(config.settings.conntrack, { min: 131_072, tcpBeLiberal: false });
  assert.deepEqual(config.settings.nodePorts, { addresses: ['primary'], onLocalhost: false });
  assert.deepEqual(config.fields.mode.origin, {
    from: 'file',
    place: { file: 'kind.yaml', line: 13, column: 1 },
  });
});

test('reads a file of 2019 with a warning for each removed field', () => {
  const config = load('ipvs-of-2019.yaml');
  assert.deepEqual(differences(config, 'ipvs-of-2019'), []);
  assert.deepEqual(
    config.warnings.map(({ subject, place }) => [subject, place?.line]),
    [
      ['conntrack.max', 12],
      ['ipvs.masqueradeAll', 27],
      ['resourceContainer', 38],
      ['udpIdleTimeout', 39],
    ],
  );
  assert.equal(config.settings.mode, 'ipvs');
  assert.equal(config.settings.nodeAddress, '192.168.4.11');
  assert.equal(config.settings.nodeName, '192.168.4.11');
  assert.deepEqual(config.settings.metricsServer, { ip: '0.0.0.0', port: 10_249 });
  assert.equal(config.fields['ipvs.strictARP'].value, true);
});

test('reads JSON', () => {
  const config = load('metrics-for-prometheus.json');
  assert.deepEqual(differences(config, 'metrics-for-prometheus'), [
    'ipvs.scheduler',
    // Written as nanoseconds there, as text here.
    'logging.flushFrequency',
  ]);
  assert.deepEqual(config.settings.healthServer, { ip: '::', port: 10_256 });
  assert.deepEqual(config.settings.localTraffic, { by: 'BridgeInterface', interfaceName: 'cni0' });
  assert.deepEqual(config.settings.masquerade, { all: true, markBit: 14 });
  assert.equal(config.settings.features.serviceExternalIps, false);
  assert.deepEqual(config.settings.log, { format: 'json', verbosity: 2 });
});

test('gives the defaults for the smallest file', () => {
  const config = load('minimal.yaml');
  assert.deepEqual(differences(config, 'minimal'), ['mode', 'nodePortAddresses', 'ipvs.scheduler']);
  assert.deepEqual(config.settings, buildConfig(NO_FLAGS, undefined).settings);
  for (const path of FIELD_PATHS) assert.equal(config.fields[path].origin.from, 'default', path);
});

test('reads the flags that k3s starts its proxy with', () => {
  const flags = new Map<FlagName, readonly string[]>([
    ['cluster-cidr', ['10.42.0.0/16']],
    ['conntrack-max-per-core', ['0']],
    ['conntrack-tcp-timeout-close-wait', ['0s']],
    ['conntrack-tcp-timeout-established', ['0s']],
    ['healthz-bind-address', ['127.0.0.1']],
    ['hostname-override', ['Worker-1']],
    ['kubeconfig', ['/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig']],
    ['proxy-mode', ['iptables']],
  ]);
  const config = buildConfig(flags, undefined);
  assert.deepEqual(differences(config, 'k3s-flags'), ['ipvs.scheduler']);
  assert.deepEqual(config.warnings, []);
  assert.equal(config.settings.nodeName, 'worker-1');
  assert.deepEqual(config.settings.healthServer, { ip: '127.0.0.1', port: 10_256 });
  assert.deepEqual(config.settings.conntrack, { min: 131_072, tcpBeLiberal: false });
  assert.deepEqual(config.fields.clusterCIDR.origin, { from: 'flag', flag: 'cluster-cidr' });
});

test('reads the same settings from the file it writes', () => {
  const files = ['kubeadm.yaml', 'kind.yaml', 'ipvs-of-2019.yaml', 'metrics-for-prometheus.json'];
  for (const file of files) {
    const config = load(file);
    const text = toConfigurationYaml(config.fields);
    const again = buildConfig(NO_FLAGS, { path: 'written.yaml', text });
    assert.deepEqual(again.settings, config.settings, file);
    assert.deepEqual(again.warnings, [], file);
    assert.equal(toConfigurationYaml(again.fields), text, file);
  }
});
