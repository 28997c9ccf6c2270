import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import {
  NAMESPACES,
  nodeNamed,
  SERVICE_CIDRS,
  SERVICES,
  SLICES,
} from '../../../src/cluster/resources.ts';
import { buildConfig, type LoadedConfig } from '../../../src/config/load-config.ts';
import { RUN_FOLDER } from '../../../src/config/run-folder.ts';

const root = join(import.meta.dirname, '../../..');
const CONFIG_FOLDER = '/var/lib/kube-proxy';

/** system:node-proxier of Kubernetes 1.37, as far as it is about reading. */
const ROLE = [
  { verbs: ['list', 'watch'], path: '/api/v1/services' },
  { verbs: ['list', 'watch'], path: '/api/v1/endpoints' },
  { verbs: ['get', 'list', 'watch'], path: '/api/v1/nodes' },
  { verbs: ['list', 'watch'], path: '/apis/discovery.k8s.io/v1/endpointslices' },
  { verbs: ['list', 'watch'], path: '/apis/networking.k8s.io/v1/servicecidrs' },
];

interface Volume {
  readonly name: string;
  readonly hostPath: { readonly path: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly livenessProbe?: { readonly httpGet: { readonly path: string; readonly port: number } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: number } };
  readonly securityContext: {
    readonly privileged?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly seccompProfile?: { readonly type: string };
    readonly capabilities?: { readonly drop: string[]; readonly add: string[] };
  };
}

function file(path: string): string {
  return readFileSync(join(root, 'deploy', path), 'utf8');
}

/** Every document of a file; a mistake in one of them is a failure. */
function documents(path: string) {
  return parseAllDocuments(file(path)).map((document) => {
    assert.deepEqual(document.errors, [], path);
    return document.toJS();
  });
}

function nameOf({ name }: Container): string {
  return name;
}

function configOf(path: string): LoadedConfig {
  return buildConfig(new Map(), { path, text: file(path) });
}

const [daemonSet] = documents('manifests/daemonset.yaml');
const pod = daemonSet.spec.template.spec;
const [main]: [Container] = pod.containers;
const [init]: [Container] = pod.initContainers;

describe('the DaemonSet', () => {
  it('is probed where Fairlead answers', () => {
    const { healthServer } = configOf('manifests/config.conf').settings;
    assert.deepEqual(main.livenessProbe?.httpGet, { path: '/livez', port: healthServer?.port });
    assert.deepEqual(main.readinessProbe?.httpGet, { path: '/readyz', port: healthServer?.port });
  });

  it('mounts what the program reads and writes', () => {
    const { kubeconfigPath } = configOf('manifests/config.conf').settings.api;
    assert.equal(kubeconfigPath, `${CONFIG_FOLDER}/kubeconfig.conf`);
    for (const container of [main, init]) {
      assert.ok(container.args.includes(`--config=${CONFIG_FOLDER}/config.conf`));
      assert.deepEqual(
        container.volumeMounts.map(({ mountPath }) => mountPath),
        [CONFIG_FOLDER, RUN_FOLDER],
      );
    }
    const run = pod.volumes.find(({ name }: { name: string }) => name === 'run');
    assert.equal(run.hostPath.path, RUN_FOLDER);
  });

  it('gives the proxy itself one capability; only what ends at once is privileged', () => {
    assert.deepEqual(main.securityContext.capabilities, { drop: ['ALL'], add: ['NET_ADMIN'] });
    assert.equal(main.securityContext.privileged, undefined);
    assert.equal(main.securityContext.allowPrivilegeEscalation, false);
    assert.deepEqual(main.securityContext.seccompProfile, { type: 'RuntimeDefault' });
    for (const { securityContext } of [main, init]) {
      assert.equal(securityContext.readOnlyRootFilesystem, true);
    }
    assert.ok(init.args.includes('--init-only'));
    assert.deepEqual([pod.containers.length, pod.initContainers.length], [1, 1]);
  });

  it('is found by the label of kube-proxy, and selects no pod of it', () => {
    assert.equal(daemonSet.spec.template.metadata.labels['k8s-app'], 'kube-proxy');
    assert.deepEqual(daemonSet.spec.selector.matchLabels, { 'app.kubernetes.io/name': 'fairlead' });
  });

  it('runs the image of this version everywhere', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const [cleanup] = documents('leftovers/fairlead.yaml');
    const images = [main, init, ...cleanup.spec.template.spec.initContainers].map(
      ({ image }: Container) => image,
    );
    assert.deepEqual(new Set(images), new Set([`localhost/fairlead:${version}`]));
    const { images: replaced } = parse(file('manifests/kustomization.yaml'));
    assert.equal(replaced[0].newTag, version);
  });
});

describe('the overlay for programs in the kernel', () => {
  const { patches, resources } = parse(file('ebpf/kustomization.yaml'));
  const { spec } = parse(patches[0].patch).spec.template;
  const [proxy]: [Container] = spec.containers;
  const [mounting]: [Container] = spec.initContainers;

  it('changes the containers of the DaemonSet, and adds no other', () => {
    assert.deepEqual(resources, ['../manifests', 'namespaces.yaml']);
    assert.deepEqual([proxy, mounting].map(nameOf), [main, init].map(nameOf));
  });

  it('lets the account of the pods read labels of namespaces, and nothing else', () => {
    const [role, binding] = documents('ebpf/namespaces.yaml');
    const [, bindingOfAll] = documents('manifests/service-account.yaml');
    const [resource] = NAMESPACES.path.split('/').slice(-1);
    assert.deepEqual(role.rules, [
      { apiGroups: [''], resources: [resource], verbs: ['list', 'watch'] },
    ]);
    assert.equal(binding.roleRef.name, role.metadata.name);
    assert.deepEqual(binding.subjects, bindingOfAll.subjects);
  });

  it('names capabilities and is not privileged', () => {
    assert.equal(proxy.securityContext.privileged, undefined);
    assert.deepEqual(proxy.securityContext.capabilities?.add, [
      'BPF',
      'NET_ADMIN',
      'PERFMON',
      'SYS_ADMIN',
    ]);
  });

  it('mounts the folder of pins, the control groups and the network namespaces', () => {
    const { pinFolder } = configOf('manifests/config.conf').settings.ebpf;
    const places = proxy.volumeMounts.map(({ mountPath }) => mountPath);
    assert.deepEqual(places, ['/sys/fs/bpf', '/sys/fs/cgroup', '/run/netns']);
    assert.ok(pinFolder.startsWith('/sys/fs/bpf/'));
    const volumes = new Map<string, string>(
      spec.volumes.map(({ name, hostPath }: Volume) => [name, hostPath.path]),
    );
    for (const { name, mountPath } of proxy.volumeMounts) {
      assert.equal(volumes.get(name), mountPath);
    }
    const writable = proxy.volumeMounts.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
    assert.deepEqual(writable, ['bpf']);
  });
});

describe('the overlay for a process that forwards', () => {
  const { patches, resources } = parse(file('userspace/kustomization.yaml'));
  const { updateStrategy, template } = parse(patches[0].patch).spec;

  it('starts the new pod before the old one ends, so that connections can move', () => {
    assert.deepEqual(resources, ['../manifests']);
    const { maxSurge, maxUnavailable } = updateStrategy.rollingUpdate;
    assert.deepEqual([maxSurge, maxUnavailable], ['10%', 0]);
    const run = daemonSet.spec.template.spec.volumes.find(({ name }: Volume) => name === 'run');
    assert.equal(run.hostPath.path, '/run/fairlead', 'both pods have the sockets of the forwarder');
  });

  it('waits for connections that stay, and asks for no other rights', () => {
    assert.ok(template.spec.terminationGracePeriodSeconds >= 30);
    const [proxy] = template.spec.containers;
    assert.deepEqual(Object.keys(proxy), ['name', 'resources']);
    assert.equal(proxy.name, main.name);
  });
});

describe('the rights', () => {
  it('are those of kube-proxy, for the account of the pods', () => {
    const [account, binding, ...more] = documents('manifests/service-account.yaml');
    assert.deepEqual(more, [], 'no role of our own');
    assert.equal(account.metadata.name, pod.serviceAccountName);
    assert.equal(binding.roleRef.name, 'system:node-proxier');
    assert.deepEqual(binding.subjects, [
      { kind: 'ServiceAccount', name: 'fairlead', namespace: 'kube-system' },
    ]);
  });

  it('cover everything that is watched', () => {
    for (const { path } of [SERVICES, SLICES, SERVICE_CIDRS, nodeNamed('a')]) {
      const rule = ROLE.find((candidate) => candidate.path === path);
      assert.ok(rule?.verbs.includes('list') && rule.verbs.includes('watch'), path);
    }
  });
});

describe('the configurations', () => {
  for (const path of ['manifests/config.conf', 'systemd/config.conf']) {
    it(`${path} is read without a warning`, () => {
      assert.deepEqual(configOf(path).warnings, []);
    });
  }

  it('outside of the cluster no Node is waited for, and the machine is left as it is', () => {
    const { nodeObject, conntrack } = configOf('systemd/config.conf').settings;
    assert.equal(nodeObject, 'none');
    const { maxPerCore, tcpEstablishedTimeoutMs, tcpCloseWaitTimeoutMs } = conntrack;
    const set = [maxPerCore, tcpEstablishedTimeoutMs, tcpCloseWaitTimeoutMs];
    assert.deepEqual(set, [undefined, undefined, undefined]);
  });

  it('outside of the cluster nothing is offered to others', () => {
    const { nodePorts, clients, servedAddresses, healthServer } =
      configOf('systemd/config.conf').settings;
    assert.equal(nodePorts.addresses, 'none');
    assert.deepEqual(clients, []);
    assert.deepEqual(Object.values(servedAddresses), [false, false, false]);
    assert.equal(healthServer?.ip, '127.0.0.1');
  });

  it('all other files can be read', () => {
    for (const path of [
      'manifests/kubeconfig.conf',
      'unprivileged/kustomization.yaml',
      'iptables-legacy/kustomization.yaml',
      'ebpf/kustomization.yaml',
      'userspace/kustomization.yaml',
    ]) {
      assert.equal(documents(path).length, 1);
    }
    assert.equal(documents('leftovers/kube-proxy.yaml').length, 1);
  });
});
