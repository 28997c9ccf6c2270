/** One value of the chart: values.yaml, its schema and the table in README.md are made of these. */
export interface ChartValue {
  /** Keys from the outside in, separated by dots. */
  readonly path: string;
  readonly default: unknown;
  readonly schema: object;
  readonly about: string;
}

const objects = { type: 'array', items: { type: 'object' } };
const image = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._/:@-]*$' };

/** What the chart takes from `fairlead config --schema`. */
export interface ConfigSchema {
  readonly properties: Readonly<Record<string, object>>;
}

/** In the order in which people read them. */
export function chartValues(config: ConfigSchema): readonly ChartValue[] {
  return [
    ...clusterValues(config),
    ...configurationValues(config),
    ...podValues(),
    ...leftoverValues(),
  ];
}

function clusterValues(config: ConfigSchema): ChartValue[] {
  return [
    {
      path: 'apiServer.host',
      default: '',
      schema: { type: 'string', pattern: '^[A-Za-z0-9.:[\\]-]*$', maxLength: 253 },
      about:
        'Required. Name or address at which nodes reach the API server without a proxy: the ' +
        'controlPlaneEndpoint if the cluster has one, not the Service default/kubernetes.',
    },
    {
      path: 'apiServer.port',
      default: 6443,
      schema: { type: 'integer', minimum: 1, maximum: 65535 },
      about: 'Port of the API server there.',
    },
    {
      path: 'clusterCIDR',
      default: '',
      schema: { type: 'string', pattern: '^[0-9A-Fa-f.:/,]*$' },
      about:
        'Addresses of pods: podSubnet of kubeadm, one range of each family, separated by a comma. ' +
        'Empty: that of `config`.',
    },
    {
      path: 'mode',
      default: '',
      schema: { type: 'string', enum: modeNames(config) },
      about:
        'How packets are forwarded (docs/install.md#which-mode). It also selects capabilities and ' +
        'mounts of the pods. Empty: that of `config`, else nftables.',
    },
  ];
}

function configurationValues(config: ConfigSchema): ChartValue[] {
  return [
    {
      path: 'config',
      default: {},
      schema: configurationSchema(config),
      about:
        "kube-proxy's configuration (docs/configuration.md): an object, or its file as it is with " +
        '`--set-file config=config.conf`. The values above take precedence. The schema checks an ' +
        'object only; `fairlead config --config config.conf` checks a file.',
    },
    {
      path: 'metrics.bindAddress',
      default: '',
      schema: { type: 'string', pattern: '^[0-9A-Fa-f.:[\\]]*$' },
      about:
        'Address and port of /metrics, such as 0.0.0.0:10249. Empty: that of `config`, else ' +
        "127.0.0.1:10249 as with kubeadm's kube-proxy, which no other machine can scrape.",
    },
  ];
}

function podValues(): ChartValue[] {
  return [
    {
      path: 'image.repository',
      default: 'localhost/fairlead',
      schema: image,
      about: 'Name of the image. The default is the name that `npm run image` gives it.',
    },
    {
      path: 'image.tag',
      default: '',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_]?[A-Za-z0-9._-]*$' },
      about: 'Empty: appVersion of the chart.',
    },
    {
      path: 'image.digest',
      default: '',
      schema: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      about: 'If set, used instead of the tag.',
    },
    {
      path: 'image.pullPolicy',
      default: 'IfNotPresent',
      schema: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'] },
      about: 'When nodes pull the image.',
    },
    {
      path: 'image.pullSecrets',
      default: [],
      schema: objects,
      about: 'Secrets of the namespace for a private registry: `[{name: …}]`.',
    },
    {
      path: 'resources',
      default: {},
      schema: { type: 'object' },
      about:
        'Of the proxy. Empty: requests of 100m CPU and 128Mi, in mode userspace 200m and 256Mi. Do ' +
        'not set limits: a proxy must not be killed or throttled in a burst of changes.',
    },
    {
      path: 'tolerations',
      default: [{ operator: 'Exists' }],
      schema: objects,
      about: 'Of all pods of the chart. The default includes nodes without a pod network.',
    },
    ...accessValues(),
  ];
}

function accessValues(): ChartValue[] {
  return [
    {
      path: 'privilegedInit',
      default: true,
      schema: { type: 'boolean' },
      about:
        'Set the conntrack limits in a privileged init container. false: as deploy/unprivileged; ' +
        'set them on the machine.',
    },
    {
      path: 'ebpfAccess',
      default: false,
      schema: { type: 'boolean' },
      about:
        'Capabilities and mounts of the eBPF modes in every mode: needed for one start when you ' +
        'leave an eBPF mode, so that Fairlead can detach its programs.',
    },
    {
      path: 'iptablesLegacy',
      default: false,
      schema: { type: 'boolean' },
      about:
        'Mode iptables on nodes with the legacy backend: NET_RAW, and /run/xtables.lock of the node.',
    },
  ];
}

function leftoverValues(): ChartValue[] {
  return [
    {
      path: 'leftovers.of',
      default: '',
      schema: { type: 'string', enum: ['', 'fairlead', 'kube-proxy'] },
      about:
        'Install nothing but a DaemonSet that removes from every node the rules that this proxy left. ' +
        'Only after the pods of that proxy are gone.',
    },
    {
      path: 'leftovers.kubeProxyImage',
      default: 'registry.k8s.io/kube-proxy:v1.37.1',
      schema: image,
      about: 'The image that kube-proxy had.',
    },
    {
      path: 'leftovers.pauseImage',
      default: 'registry.k8s.io/pause:3.10.2',
      schema: image,
      about: 'Runs until you delete the DaemonSet.',
    },
  ];
}

/** Fairlead's own field takes every mode, kube-proxy's only those that kube-proxy has. */
function modeNames({ properties }: ConfigSchema): readonly string[] {
  const own = objectOf(objectOf(properties['fairlead'])?.properties?.['mode']);
  if (own?.enum === undefined) throw new Error('the schema has no list of modes: fairlead.mode');
  return own.enum;
}

interface Alternative {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly enum?: readonly string[];
}

/** Every field may be null, so its schema has two alternatives. */
function objectOf(field: object | undefined): Alternative | undefined {
  const { anyOf = [] } = (field ?? {}) as { anyOf?: readonly Alternative[] };
  return anyOf.find(({ type }) => type !== 'null');
}

/** `then` instead of two alternatives: an error names the field, not the alternatives. */
function configurationSchema({ properties }: ConfigSchema): object {
  return {
    type: ['object', 'string'],
    if: { type: 'object' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
    then: { properties, additionalProperties: false },
  };
}
