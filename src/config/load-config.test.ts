import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigError } from './config-error.ts';
import type { FlagName } from './flags/flag-table.ts';
import { formatOrigin } from './layers.ts';
import { buildConfig, type LoadedConfig, loadConfig } from './load-config.ts';
import { toConfigurationYaml } from './write.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

type FlagTexts = Partial<Record<FlagName, string | readonly string[]>>;

function load(body: string | undefined, flags: FlagTexts = {}): LoadedConfig {
  const file = body === undefined ? undefined : { path: 'f.yaml', text: HEAD + body };
  const given = new Map(
    Object.entries(flags).map(([name, texts]) => [name as FlagName, [texts].flat()]),
  );
  if (file !== undefined) given.set('config', ['f.yaml']);
  return buildConfig(given, file);
}

function faults(body: string | undefined, flags: FlagTexts = {}): readonly string[] {
  try {
    load(body, flags);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message.split('\n');
  }
  return [];
}

function warnings(config: LoadedConfig): readonly string[] {
  return config.warnings.map(({ subject, message }) => `${subject}: ${message}`);
}

test('reports all problems at once: those of the file in its order, then those of the flags', () => {
  const body = [
    'mode: tc-ebpf',
    'conntrack:',
    '  min: "5"',
    '  tcpEstablishedTimeout: 1d',
    'nodePortAddresses: [primary, 10.0.0.0/8, x, primary]',
    'ipvs: []',
    'oomScoreAdj: 5000',
  ].join('\n');
  assert.deepEqual(faults(body, { v: 'x' }), [
    'f.yaml:3:1: mode: tc-ebpf is a mode that kube-proxy does not have: set it in fairlead.mode, which kube-proxy ignores',
    "f.yaml:5:3: conntrack.min: must be a 32-bit integer, and is '5'",
    "f.yaml:6:3: conntrack.tcpEstablishedTimeout: must be a duration such as 30s or 1h30m, and is '1d'",
    'f.yaml:7:1: nodePortAddresses: must contain CIDRs such as 10.0.0.0/8, or "primary", "localhost", "all", and contains "x"',
    'f.yaml:7:1: nodePortAddresses: contains "primary" twice',
    'f.yaml:8:1: ipvs: must be a mapping of fields, and is []',
    'f.yaml:9:1: oomScoreAdj: must be from -1000 to 1000, and is 5000',
    '--v: "x" is not a 32-bit integer',
  ]);
});

test('rejects the values that kube-proxy rejects', () => {
  const rejected = [
    'mode: userspace',
    'mode: NFTables',
    'configSyncPeriod: -1s',
    'bindAddress: foo',
    'healthzBindAddress: localhost:80',
    'metricsBindAddress: ":10249"',
    'clusterCIDR: "10.0.0.0/8, fd00::/8"',
    'clusterCIDR: 10.0.0.0/8,11.0.0.0/8',
    'clusterCIDR: 10.0.0.0/8,fd00::/8,fd01::/16',
    'nodePortAddresses: [10.0.0.0]',
    'nodePortAddresses: [Primary]',
    'nodePortAddresses: [all, localhost, all]',
    'mode: ipvs\nfeatureGates: {KubeProxyIPVS: false}',
    'detectLocalMode: clustercidr',
    'detectLocalMode: BridgeInterface',
    'detectLocalMode: InterfaceNamePrefix',
    'iptables: {syncPeriod: 1s, minSyncPeriod: 5s}',
    'mode: nftables\nnftables: {masqueradeBit: 32}',
    'mode: ipvs\nipvs: {excludeCIDRs: [x]}',
    'mode: ipvs\nipvs: {tcpTimeout: -1s}',
    'fairlead: {mode: userspace, userspace: {threads: -1}}',
    'fairlead: {mode: userspace, userspace: {threads: 65}}',
    'conntrack: {maxPerCore: -1}',
    'conntrack: {maxPerCore: 1.5}',
    'conntrack: {udpTimeout: -1s}',
    'clientConnection: {burst: -1}',
    'logging: {format: xml}',
    'hostnameOverride: 123',
  ];
  for (const body of rejected) assert.equal(faults(body).length, 1, body);
});

test('does not validate the blocks of other modes, like kube-proxy', () => {
  load('mode: iptables\nipvs: {excludeCIDRs: [x], tcpTimeout: -1s}\nnftables: {masqueradeBit: 99}');
  load('detectLocalMode: NodeCIDR\nclusterCIDR: nonsense');
});

test('rejects a pin path outside a folder of its own', () => {
  for (const folder of ['/', '/sys/fs', '/sys/fs/bpf/', 'pins', '/run/../sys']) {
    const [fault = ''] = faults(`fairlead: {pinFolder: "${folder}"}`);
    assert.match(fault, /fairlead\.pinFolder: must be a folder that only Fairlead uses/);
  }
  for (const folder of ['', '/sys/fs/bpf/fairlead', '/run/pins']) {
    assert.deepEqual(faults(`fairlead: {pinFolder: "${folder}"}`), []);
  }
});

test('reads YAML as Kubernetes does', () => {
  assert.equal(load('bindAddressHardFail: yes').settings.endsWhenServerFails, true);
  assert.equal(load('hostnameOverride: 2026-01-01').settings.nodeName, '2026-01-01');
  assert.equal(load('hostnameOverride: 1:30').settings.nodeName, '1:30');
  assert.equal(load('conntrack: {min: 1e3}').settings.conntrack.min, 1000);
  assert.equal(load('<<: {mode: ipvs}').settings.mode, 'ipvs');
  assert.equal(
    load('featureGates: {AllowServiceExternalIPs: null}').settings.features.serviceExternalIps,
    false,
  );
});

test('warns about unknown and repeated fields and continues', () => {
  const config = load('Mode: ipvs\nmode: iptables\nmode: nftables\nconntrack: {max: 1, min: 7}\n');
  assert.deepEqual(config.warnings, [
    {
      subject: 'Mode',
      message: 'is not a known field and is ignored. Did you mean mode?',
      place: { file: 'f.yaml', line: 3, column: 1 },
    },
    {
      subject: 'mode',
      message: 'is set twice, first in line 4; the last value is used',
      place: { file: 'f.yaml', line: 5, column: 1 },
    },
    {
      subject: 'conntrack.max',
      message: 'is not a known field and is ignored.',
      place: { file: 'f.yaml', line: 6, column: 13 },
    },
  ]);
  assert.equal(config.settings.mode, 'nftables');
  assert.equal(config.settings.conntrack.min, 7);
});

test('reads the iptables block of a file without a mode, although nftables runs', () => {
  const body =
    'iptables: {masqueradeAll: true, syncPeriod: 1m}\nnftables: {masqueradeAll: false, masqueradeBit: 3}';
  const { settings, fields } = load(body);
  assert.equal(settings.mode, 'nftables');
  assert.deepEqual(settings.masquerade, { all: true, markBit: 3 });
  assert.equal(settings.syncPeriodMs, 60_000);
  assert.equal(settings.nodePorts.addresses, 'all');
  assert.deepEqual(fields['nftables.masqueradeAll'].origin, {
    from: 'file',
    via: 'iptables.masqueradeAll',
    place: { file: 'f.yaml', line: 3, column: 12 },
  });

  const chosen = load(`mode: nftables\n${body}`).settings;
  assert.deepEqual(chosen.masquerade, { all: false, markBit: 3 });
  assert.equal(chosen.syncPeriodMs, 30_000);
  assert.deepEqual(chosen.nodePorts.addresses, ['primary']);
});

test('accepts keywords beside ranges in nodePortAddresses', () => {
  const addresses = (list: string): unknown =>
    load(`mode: iptables\nnodePortAddresses: [${list}]`).settings.nodePorts.addresses;
  assert.deepEqual(addresses('primary, 10.0.0.0/8'), ['primary', '10.0.0.0/8']);
  assert.deepEqual(addresses('10.0.0.0/8, localhost'), ['10.0.0.0/8', '127.0.0.0/8', '::1/128']);
  assert.equal(addresses('all'), 'all');
  assert.equal(addresses('primary, all, 10.0.0.0/8'), 'all');
  assert.equal(load('mode: ipvs\nfeatureGates: {KubeProxyIPVS: true}').settings.mode, 'ipvs');
});

test('relays node ports on loopback when the gate is on and loopback is listed', () => {
  const gate = 'featureGates: {KubeProxyNFTablesLocalhostNodePorts: true}\n';
  const relayed = (body: string): unknown => load(body).settings.nodePorts.relayedLocalhost;
  assert.deepEqual(relayed(`${gate}mode: nftables\nnodePortAddresses: [primary, localhost]`), [
    'IPv4',
    'IPv6',
  ]);
  assert.deepEqual(relayed(`${gate}mode: nftables\nnodePortAddresses: [127.0.0.5/32]`), ['IPv4']);
  assert.deepEqual(relayed(`${gate}fairlead: {mode: tc-ebpf}\nnodePortAddresses: ["::1/128"]`), [
    'IPv6',
  ]);
  const ipvs = 'featureGates: {KubeProxyIPVS: true, KubeProxyNFTablesLocalhostNodePorts: true}\n';
  assert.deepEqual(relayed(`${ipvs}mode: ipvs\nnodePortAddresses: [127.0.0.0/8]`), ['IPv4']);
  const unused = [
    ['mode: nftables\nnodePortAddresses: [all]', 'nodePortAddresses does not include loopback'],
    ['mode: iptables\nnodePortAddresses: [localhost]', 'has no effect in mode iptables'],
  ] as const;
  for (const [body, message] of unused) {
    assert.equal(relayed(gate + body), undefined, body);
    assert.match(warnings(load(gate + body)).join(), new RegExp(message), body);
  }
  const withoutGate = load('mode: nftables\nnodePortAddresses: [localhost]');
  assert.equal(withoutGate.settings.nodePorts.relayedLocalhost, undefined);
  assert.match(warnings(withoutGate).join(), /nodePortAddresses: includes loopback/);
  assert.deepEqual(warnings(load('mode: iptables\nnodePortAddresses: [localhost]')), []);
});

test('takes a mode that kube-proxy does not have from the fairlead block', () => {
  const { settings } = load(
    'mode: iptables\nfairlead: {mode: tc-ebpf, nodeObject: none}\nnftables: {masqueradeAll: true}',
  );
  assert.equal(settings.mode, 'tc-ebpf');
  assert.equal(settings.nodeObject, 'none');
  assert.equal(settings.masquerade.all, true);
  assert.deepEqual(load('fairlead: {mode: tc-ebpf}').settings.nodePorts.addresses, ['primary']);
  assert.equal(faults('fairlead: {mode: ebpf}').length, 1);
  assert.equal(load(undefined, { 'proxy-mode': 'userspace' }).settings.mode, 'userspace');
});

test('applies only a few flags beside a file', () => {
  const config = load(
    'hostnameOverride: a\nlogging: {verbosity: 1, vmodule: [{filePattern: a, verbosity: 1}]}',
    {
      'hostname-override': ' B ',
      v: '4',
      vmodule: 'b=2',
      master: 'https://10.0.0.1:6443',
      'proxy-mode': 'ipvs',
      'healthz-port': '0',
    },
  );
  assert.equal(config.settings.nodeName, 'b');
  assert.equal(config.settings.log.verbosity, 4);
  assert.deepEqual(config.fields['logging.vmodule'].value, [
    { filePattern: 'b', verbosity: 2 },
    { filePattern: 'a', verbosity: 1 },
  ]);
  assert.equal(config.settings.api.serverUrl, 'https://10.0.0.1:6443');
  assert.equal(config.settings.mode, 'nftables');
  assert.ok(config.settings.healthServer);
  assert.deepEqual(
    warnings(config).filter((text) => text.includes('because --config')),
    [
      '--proxy-mode: is ignored, because --config is given',
      '--healthz-port: is ignored, because --config is given',
    ],
  );
});

test('keeps the pitfalls of kube-proxy’s flags and warns about them', () => {
  const periods = load(undefined, { 'proxy-mode': 'nftables', 'iptables-sync-period': '5s' });
  assert.equal(periods.settings.syncPeriodMs, 5000);

  assert.equal(load(undefined, { 'healthz-port': '0' }).settings.healthServer, undefined);
  assert.deepEqual(faults(undefined, { 'metrics-port': '0' }), [
    '--metrics-port: must not be 0: the metrics server cannot be disabled',
  ]);
  const port = load(undefined, { 'healthz-port': '9' });
  assert.equal(port.settings.healthServer?.port, 10_256);
  assert.equal(port.warnings.length, 1);
  const both = load(undefined, { 'healthz-port': '9', 'healthz-bind-address': '::1' });
  assert.deepEqual(both.settings.healthServer, { ip: '::1', port: 9 });

  const empty = load(undefined, { 'bind-address': '', 'metrics-bind-address': '' });
  assert.deepEqual(empty.settings.metricsServer, { ip: '127.0.0.1', port: 10_249 });
  const ipv6 = load(undefined, { 'bind-address': 'fd00::1' }).settings;
  assert.deepEqual(ipv6.healthServer, { ip: '0.0.0.0', port: 10_256 });

  assert.equal(faults(undefined, { 'hostname-override': '  ' }).length, 1);
  assert.equal(faults(undefined, { 'iptables-sync-period': '0s' }).length, 1);
  assert.equal(faults(undefined, { 'masquerade-all': 'maybe' }).length, 1);
});

test('merges lists and gates over repeated flags', () => {
  const { fields } = load(undefined, {
    'nodeport-addresses': ['10.0.0.0/8,11.0.0.0/8', 'fd00::/8'],
    'feature-gates': [
      'AllowServiceExternalIPs=true,ComponentFlagz=false',
      'AllowServiceExternalIPs=false',
    ],
  });
  assert.deepEqual(fields.nodePortAddresses.value, ['10.0.0.0/8', '11.0.0.0/8', 'fd00::/8']);
  assert.deepEqual(fields.featureGates.value, {
    AllowServiceExternalIPs: false,
    ComponentFlagz: false,
  });
});

test('warns about a flag without effect', () => {
  const config = load(undefined, {
    'iptables-masquerade-bit': '15',
    'masquerade-all': 'true',
    'kube-api-qps': '50',
    'machine-id-file': '/etc/machine-id',
    'feature-gates': 'WinDSR=true,NFTablesProxyMode=false',
  });
  assert.deepEqual(
    config.warnings.map(({ subject }) => subject),
    [
      '--kube-api-qps',
      '--machine-id-file',
      'featureGates.WinDSR',
      'featureGates.NFTablesProxyMode',
    ],
  );
  const chosen = load(undefined, { 'proxy-mode': 'nftables', 'iptables-masquerade-bit': '15' });
  assert.deepEqual(warnings(chosen), ['--iptables-masquerade-bit: has no effect in mode nftables']);
});

test('names what a file holds that is not a configuration', () => {
  const code = (text: string): string => {
    try {
      buildConfig(new Map(), { path: 'f.yaml', text });
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return `${error.code} ${error.message}`;
    }
    return 'accepted';
  };
  assert.equal(
    code(''),
    'CONFIG_KIND f.yaml: no KubeProxyConfiguration document found; found: nothing',
  );
  assert.equal(
    code('kind: ConfigMap\n---\na: 1'),
    'CONFIG_KIND f.yaml: no KubeProxyConfiguration document found; found: ConfigMap, a document without kind',
  );
  assert.equal(
    code('kind: KubeProxyConfiguration'),
    'CONFIG_KIND apiVersion: must be kubeproxy.config.k8s.io/v1alpha1, and is missing',
  );
  assert.match(code(`${HEAD}mode: "nft`), /^CONFIG_SYNTAX f\.yaml:\d+:\d+: /);
  assert.match(code(`${HEAD}mode: *nope`), /^CONFIG_SYNTAX f\.yaml/);
  assert.match(code(`a: ${'['.repeat(20_000)}`), /^CONFIG_SYNTAX f\.yaml/);
  assert.equal(code(`${HEAD}---\n${HEAD}`), 'accepted');
});

test('names the file and the reason when it cannot be read', async () => {
  await assert.rejects(loadConfig(new Map([['config', ['/nowhere/f.yaml']]])), {
    name: 'ConfigError',
    code: 'CONFIG_UNREADABLE',
    message: /\/nowhere\/f\.yaml.*ENOENT/,
  });
});

test('returns frozen settings', () => {
  const { settings } = load('');
  assert.throws(() => Object.assign(settings.conntrack, { min: 1 }), TypeError);
  assert.throws(() => Object.assign(settings, { mode: 'ipvs' }), TypeError);
});

test('a mutilated file is read or rejected, and never anything else', () => {
  const whole = readFileSync(join(import.meta.dirname, 'testdata/kubeadm.yaml'), 'utf8');
  const pieces = [
    '[',
    '{',
    '&a',
    '*a',
    '!!map',
    '- ',
    ': ',
    '\n',
    '"',
    "'",
    '? ',
    '<<: ',
    '\t',
    '---\n',
    '\0',
    '__proto__',
    '%',
    '1e999',
    '|\n',
    '# ',
  ];
  const cut = fc.record({
    at: fc.nat(whole.length),
    remove: fc.nat(12),
    insert: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })),
  });
  fc.assert(
    fc.property(fc.array(cut, { minLength: 1, maxLength: 6 }), (cuts) => {
      let text = whole;
      for (const { at, remove, insert } of cuts) {
        text = text.slice(0, at) + insert + text.slice(at + remove);
      }
      try {
        buildConfig(new Map(), { path: 'f.yaml', text });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        assert.ok(error.problems.length > 0 && error.next !== '');
      }
    }),
    { numRuns: 400 },
  );
});

test('exposes nothing to other hosts by default without a Node object', () => {
  const none = 'fairlead: {nodeObject: none}';
  for (const mode of ['', 'mode: nftables\n', 'mode: iptables\n']) {
    const { settings, fields } = load(mode + none);
    assert.deepEqual(settings.nodePorts, { addresses: 'none', onLocalhost: false });
    assert.deepEqual(settings.clients, []);
    assert.deepEqual(settings.servedAddresses, {
      allClusterIPs: false,
      externalIPs: false,
      loadBalancerIPs: false,
    });
    assert.equal(fields.healthzBindAddress.value, '127.0.0.1:10256');
    assert.equal(fields.metricsBindAddress.value, '127.0.0.1:10249');
    for (const path of ['nodePortAddresses', 'fairlead.clients', 'healthzBindAddress'] as const) {
      assert.equal(formatOrigin(fields[path].origin), 'default (fairlead.nodeObject)', path);
    }
  }
  const ipv6 = load(`bindAddress: "::"\n${none}`);
  assert.equal(ipv6.fields.healthzBindAddress.value, '[::1]:10256');
});

test('serves all clients with a Node object, in every mode', () => {
  for (const mode of ['', 'mode: nftables', 'mode: iptables']) {
    const { settings } = load(mode);
    assert.equal(settings.clients, 'everybody');
    assert.deepEqual(settings.servedAddresses, {
      allClusterIPs: true,
      externalIPs: true,
      loadBalancerIPs: true,
    });
    assert.notEqual(settings.nodePorts.addresses, 'none');
  }
});

test('prefers written values to the defaults for a machine without a Node object', () => {
  const { settings, fields } = load(
    [
      'mode: nftables',
      'nodePortAddresses: [192.0.2.0/24]',
      'healthzBindAddress: 0.0.0.0',
      'fairlead: {nodeObject: none, clients: [docker0, br-*], servedAddresses: [loadBalancerIPs]}',
    ].join('\n'),
  );
  assert.deepEqual(settings.nodePorts.addresses, ['192.0.2.0/24']);
  assert.equal(fields.healthzBindAddress.value, '0.0.0.0:10256');
  assert.deepEqual(settings.clients, ['docker0', 'br-*']);
  assert.deepEqual(settings.servedAddresses, {
    allClusterIPs: false,
    externalIPs: false,
    loadBalancerIPs: true,
  });
});

test('reads the same settings from the file it writes for a machine without a Node object', () => {
  const config = load('mode: iptables\nfairlead: {nodeObject: none}');
  const [, , ...body] = toConfigurationYaml(config.fields).split('\n');
  const text = body.filter((line) => !/^(apiVersion|kind):/.test(line)).join('\n');
  assert.deepEqual(load(text).settings, config.settings);
});

test('accepts interfaces or all as clients', () => {
  for (const clients of [
    '[everybody, docker0]',
    '["*"]',
    '["a*b"]',
    '["a b"]',
    '[""]',
    '[sixteen-letters-]',
  ]) {
    const [fault = ''] = faults(`fairlead: {clients: ${clients}}`);
    assert.match(fault, /fairlead\.clients: /, clients);
  }
  assert.match(
    faults('fairlead: {servedAddresses: [clusterIPs]}')[0] ?? '',
    /servedAddresses: must contain/,
  );
  assert.deepEqual(faults('fairlead: {clients: [docker0, "br-*"]}'), []);
});

test('reads scope, zone and facts of the cluster from the file', () => {
  const { settings } = load(
    [
      'fairlead:',
      '  zone: eu-1a',
      '  scope:',
      '    namespaces: [shop, shop, billing]',
      '    services: [kube-system/kube-dns]',
      '    serviceSelector: "tier in (front, back), !internal"',
      '  serviceRanges: [10.96.0.7/12, "fd00:10:96::/112"]',
      '  serviceRoutes: missing',
      '  clusterDNS: [10.96.0.10, "fd00:10:96::a"]',
      '  clusterDomain: example.internal',
    ].join('\n'),
  );
  assert.equal(settings.zone, 'eu-1a');
  assert.deepEqual(settings.scope, {
    namespaces: ['shop', 'billing'],
    services: ['kube-system/kube-dns'],
    serviceSelector: 'tier in (front, back), !internal',
  });
  assert.deepEqual(settings.serviceRanges, ['10.96.0.0/12', 'fd00:10:96::/112']);
  assert.equal(settings.serviceRoutes, 'missing');
  assert.deepEqual(settings.clusterDns, ['10.96.0.10', 'fd00:10:96::a']);
  assert.equal(settings.clusterDomain, 'example.internal');
});

test('warns of a scope on a node', () => {
  const scope = 'scope: {namespaces: [shop]}';
  assert.match(
    warnings(load(`fairlead: {${scope}}`))[0] ?? '',
    /^fairlead\.scope: is set on a node/,
  );
  const ranges = 'serviceRanges: [10.96.0.0/12]';
  assert.deepEqual(warnings(load(`fairlead: {nodeObject: none, ${scope}, ${ranges}}`)), []);
});

test('warns of a machine without a Node object that has no Service ranges', () => {
  const none = 'fairlead: {nodeObject: none';
  assert.match(
    warnings(load(`${none}}`))[0] ?? '',
    /^fairlead\.serviceRanges: is empty, so no ClusterIP is served/,
  );
  assert.deepEqual(warnings(load(`${none}, serviceRanges: [10.96.0.0/12]}`)), []);
  const all = load(`${none}, servedAddresses: [allClusterIPs]}`);
  assert.deepEqual(warnings(all), []);
  assert.equal(all.settings.servedAddresses.allClusterIPs, true);
  assert.deepEqual(warnings(load('')), []);
});

test('reads all Services by default, and adds routes only without a Node object', () => {
  for (const body of ['', 'fairlead: {scope: {namespaces: [], serviceSelector: ""}, zone: ""}']) {
    const { settings } = load(body);
    assert.equal('scope' in settings, false);
    assert.equal('zone' in settings, false);
    assert.deepEqual(settings.serviceRanges, []);
    assert.equal(settings.serviceRoutes, 'none');
    assert.deepEqual(settings.clusterDns, []);
    assert.equal(settings.clusterDomain, 'cluster.local');
  }
  const { settings, fields } = load('fairlead: {nodeObject: none}');
  assert.equal(settings.serviceRoutes, 'missing');
  assert.equal(
    formatOrigin(fields['fairlead.serviceRoutes'].origin),
    'default (fairlead.nodeObject)',
  );
  const written = load('fairlead: {nodeObject: none, serviceRoutes: none}');
  assert.equal(written.settings.serviceRoutes, 'none');
});

test('rejects scopes and facts of the cluster that cannot be', () => {
  for (const [field, value] of [
    ['zone', 'a b'],
    ['scope.namespaces', '[Shop]'],
    ['scope.namespaces', '[""]'],
    ['scope.services', '[web]'],
    ['scope.services', '[a/b/c]'],
    ['scope.services', '[shop/Web]'],
    ['scope.serviceSelector', '"a=b=c"'],
    ['serviceRanges', '[10.96.0.1]'],
    ['serviceRanges', '[0.0.0.0/0]'],
    ['serviceRoutes', 'all'],
    ['clusterDNS', '[dns.example]'],
    ['clusterDomain', '.local'],
  ] as const) {
    const body = field.startsWith('scope.')
      ? `fairlead: {scope: {${field.slice(6)}: ${value}}}`
      : `fairlead: {${field}: ${value}}`;
    const [fault = '', ...others] = faults(body);
    assert.ok(fault.startsWith('f.yaml:3:') && fault.includes(`fairlead.${field}: must `), fault);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(faults('fairlead: {scope: {serviceSelector: "app = web, !x"}}'), []);
});

test('rejects a scope with more watches than a connection carries', () => {
  const scope = (count: number, more = ''): string => {
    const names = Array.from({ length: count }, (_, index) => `ns-${index}`);
    return `fairlead: {scope: {namespaces: [${names.join(', ')}]${more}}}`;
  };
  assert.deepEqual(faults(scope(45)), []);
  assert.match(
    faults(scope(46))[0] ?? '',
    /fairlead\.scope\.namespaces: is too large: .* 92 watch/,
  );
  assert.match(faults(scope(45, ', services: [a/b]'))[0] ?? '', /92 watches/);
  assert.match(faults(scope(31, ', serviceSelector: a=b'))[0] ?? '', /93 watches/);
});
