import { MODE_NAMES, modesWith } from '../modes.ts';
import { type FieldRow, MINUTE_MS, SECOND_MS } from './field-row.ts';

const ONE_CONNECTION =
  'Fairlead uses one connection to the API server, mostly for watches; there are no request bursts to limit.';
const EVENTS_ONLY = 'Fairlead sends only Events, in JSON.';
const SYNCHRONOUS_LOG = 'Log lines are written immediately to standard error, without buffering.';

/** The process: its name, its servers, its connection to the API server, its log. */
export const PROCESS_FIELDS = {
  'fairlead.nodeObject': {
    kind: 'text',
    about:
      'whether this machine has a Node object to wait for and watch; "none" for a machine outside the cluster',
    kubeProxyDefault: 'expected',
    choices: ['expected', 'none'],
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.addressRules': {
    kind: 'text',
    about:
      'which Service gets an address that several claim. "strict": cluster IPs take precedence over load balancer IPs, and those over external IPs; an external IP is not served if it is in a Service CIDR, is an address of the API server, or hides a listening port of this machine. "kube-proxy": the older Service gets it',
    kubeProxyDefault: 'strict',
    choices: ['strict', 'kube-proxy'],
    zeroIsUnset: true,
    change: 'live',
  },
  'fairlead.clients': {
    kind: 'texts',
    about:
      'whose connections are translated, in addition to those of the machine\'s own sockets: names of incoming interfaces, with * at the end as a wildcard; or "everybody"',
    kubeProxyDefault: ['everybody'],
    defaultFollows: 'empty (own sockets only) when fairlead.nodeObject is "none"',
    change: 'live',
  },
  'fairlead.servedAddresses': {
    kind: 'texts',
    about:
      'Service addresses that are served in addition to ClusterIPs: "externalIPs", "loadBalancerIPs"; without a Node object also "allClusterIPs", those outside of fairlead.serviceRanges',
    kubeProxyDefault: ['externalIPs', 'loadBalancerIPs'],
    defaultFollows:
      'empty (ClusterIPs in fairlead.serviceRanges only) when fairlead.nodeObject is "none"',
    change: 'live',
  },
  hostnameOverride: {
    kind: 'text',
    about: "the name of this machine's Node object; empty: the host name",
    kubeProxyDefault: '',
    change: 'restart',
  },
  bindAddress: {
    kind: 'text',
    about: "the node's primary address, if not 0.0.0.0 or ::; no server binds to it",
    kubeProxyDefault: '0.0.0.0',
    zeroIsUnset: true,
    change: 'live',
  },
  healthzBindAddress: {
    kind: 'text',
    about: 'address of the server for /healthz, /livez and /readyz',
    kubeProxyDefault: '0.0.0.0:10256',
    defaultFollows: '[::]:10256 when the file sets bindAddress to an IPv6 address',
    why: 'With fairlead.nodeObject "none", loopback only: 127.0.0.1:10256, or [::1]:10256, because no load balancer probes such a machine.',
    zeroIsUnset: true,
    change: 'restart',
  },
  metricsBindAddress: {
    kind: 'text',
    about: 'address of the server for /metrics, /proxyMode and /configz',
    kubeProxyDefault: '127.0.0.1:10249',
    defaultFollows: '[::1]:10249 when the file sets bindAddress to an IPv6 address',
    zeroIsUnset: true,
    change: 'restart',
  },
  bindAddressHardFail: {
    kind: 'boolean',
    about: 'exit when a server cannot listen on its address',
    kubeProxyDefault: false,
    change: 'live',
  },
  enableProfiling: {
    kind: 'boolean',
    about: "Go's profiler on the metrics server",
    kubeProxyDefault: false,
    noEffect: "/debug/pprof is Go's profiler; Node has its own (--cpu-prof, --heap-prof).",
    change: 'restart',
  },
  showHiddenMetricsForVersion: {
    kind: 'text',
    about: 'show metrics that kube-proxy has hidden since this version',
    kubeProxyDefault: '',
    noEffect: 'Fairlead hides no metrics.',
    change: 'restart',
  },
  oomScoreAdj: {
    kind: 'int32',
    about: 'oom_score_adj of the process, from -1000 (never killed when memory runs out) to 1000',
    kubeProxyDefault: -999,
    min: -1000,
    max: 1000,
    change: 'live',
  },
  'clientConnection.kubeconfig': {
    kind: 'text',
    about: 'the kubeconfig file; empty: the service account of the pod',
    kubeProxyDefault: '',
    change: 'restart',
  },
  'clientConnection.acceptContentTypes': {
    kind: 'text',
    about:
      'content types accepted from the API server; empty: protobuf, or JSON where the server has no protobuf',
    kubeProxyDefault: '',
    change: 'restart',
  },
  'clientConnection.contentType': {
    kind: 'text',
    about: 'content type sent to the API server',
    kubeProxyDefault: 'application/vnd.kubernetes.protobuf',
    zeroIsUnset: true,
    noEffect: EVENTS_ONLY,
    change: 'restart',
  },
  'clientConnection.qps': {
    kind: 'number',
    about: 'requests per second to the API server',
    kubeProxyDefault: 5,
    zeroIsUnset: true,
    noEffect: ONE_CONNECTION,
    change: 'restart',
  },
  'clientConnection.burst': {
    kind: 'int32',
    about: 'burst of requests to the API server',
    kubeProxyDefault: 10,
    zeroIsUnset: true,
    min: 0,
    noEffect: ONE_CONNECTION,
    change: 'restart',
  },
  configSyncPeriod: {
    kind: 'duration',
    about: 'how often known objects are processed again',
    kubeProxyDefault: 15 * MINUTE_MS,
    zeroIsUnset: true,
    aboveZero: true,
    noEffect:
      'Fairlead writes only differences; processing the same objects again would change nothing.',
    change: 'restart',
  },
  featureGates: {
    kind: 'switches',
    about:
      'AllowServiceExternalIPs, ComponentFlagz, ComponentStatusz, KubeProxyIPVS and KubeProxyNFTablesLocalhostNodePorts are supported',
    kubeProxyDefault: {},
    why: 'Fairlead warns about unknown names; kube-proxy refuses to start.',
    change: 'restart',
  },
  'logging.format': {
    kind: 'text',
    about: 'format of the log lines',
    kubeProxyDefault: 'text',
    choices: ['text', 'json'],
    zeroIsUnset: true,
    change: 'restart',
  },
  'logging.verbosity': {
    kind: 'int32',
    about: 'log verbosity: 0 important messages, 2 changes, 4 details',
    kubeProxyDefault: 0,
    min: 0,
    change: 'live',
  },
  'logging.flushFrequency': {
    kind: 'durationOrNanoseconds',
    about: 'how long log lines may be buffered',
    kubeProxyDefault: 5 * SECOND_MS,
    zeroIsUnset: true,
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.vmodule': {
    kind: 'filePatterns',
    about: 'log verbosity for individual source files of kube-proxy',
    kubeProxyDefault: [],
    noEffect: 'It names source files of kube-proxy, which Fairlead does not have.',
    change: 'restart',
  },
  'logging.options.text.splitStream': {
    kind: 'boolean',
    about: 'write errors and other messages to separate streams',
    kubeProxyDefault: false,
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.options.text.infoBufferSize': {
    kind: 'quantity',
    about: 'size of the buffer for info messages',
    kubeProxyDefault: '0',
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.options.json.splitStream': {
    kind: 'boolean',
    about: 'write errors and other messages to separate streams',
    kubeProxyDefault: false,
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.options.json.infoBufferSize': {
    kind: 'quantity',
    about: 'size of the buffer for info messages',
    kubeProxyDefault: '0',
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'fairlead.serviceMetrics': {
    kind: 'int32',
    about:
      'service ports with metrics of their own: the busiest ones; 0: none. Each adds three series to a scrape',
    kubeProxyDefault: 0,
    min: 0,
    max: 1000,
    change: 'restart',
  },
} as const satisfies Record<string, FieldRow>;

/** Our own fields for how traffic is handled; here because one of them names every mode. */
export const OWN_MODE_FIELDS = {
  'fairlead.mode': {
    kind: 'text',
    about: 'a mode that kube-proxy does not have; overrides mode',
    kubeProxyDefault: '',
    choices: MODE_NAMES,
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.cgroup': {
    kind: 'text',
    about:
      'the cgroup (v2) whose sockets are served, including those of pods below it; empty: the root cgroup. For socket-ebpf and tc-ebpf',
    kubeProxyDefault: '',
    change: 'restart',
  },
  'fairlead.pinFolder': {
    kind: 'text',
    about:
      'folder in a bpf file system where maps and programs are pinned, so that they outlive the process. For socket-ebpf and tc-ebpf',
    kubeProxyDefault: '/sys/fs/bpf/fairlead',
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.interfaces': {
    kind: 'texts',
    about:
      'names of the interfaces whose packets are served, with * as a wildcard; empty: all except loopback. For tc-ebpf',
    kubeProxyDefault: [],
    modes: modesWith(({ choosesInterfaces }) => choosesInterfaces === true),
    change: 'restart',
  },
  'fairlead.userspace.threads': {
    kind: 'int32',
    about:
      'threads of the forwarder that copy between client and endpoint; 0: as many as CPUs, at most 8',
    kubeProxyDefault: 0,
    min: 0,
    max: 64,
    modes: modesWith(({ hasForwarder }) => hasForwarder === true),
    change: 'restart',
  },
} as const satisfies Record<string, FieldRow>;
