import { MODE_NAMES, modesWith } from '../modes.ts';
import { type FieldRow, MINUTE_MS, SECOND_MS } from './row.ts';

const ONE_CONNECTION =
  'Fairlead keeps one connection to the API server and watches; there is no stream of requests to limit.';
const EVENTS_ONLY = 'Fairlead sends nothing but Events, in JSON.';
const SYNCHRONOUS_LOG = 'Log lines are written at once, to standard error; nothing is buffered.';

/** The process: its name, its servers, its connection to the API server, its log. */
export const PROCESS_FIELDS = {
  'fairlead.nodeObject': {
    kind: 'text',
    about:
      'whether this machine has a Node object to wait for and to watch: "none" for a machine outside the cluster',
    kubeProxyDefault: 'expected',
    choices: ['expected', 'none'],
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.addressRules': {
    kind: 'text',
    about:
      'who has an address that several want. "strict": a cluster IP before a load balancer\'s address before an external IP, and no external IP that is in a Service range, is the API server\'s, or hides a port of this machine. "kube-proxy": the older Service has it',
    kubeProxyDefault: 'strict',
    choices: ['strict', 'kube-proxy'],
    zeroIsUnset: true,
    change: 'live',
  },
  'fairlead.clients': {
    kind: 'texts',
    about:
      'whose connections are translated, beside those of the machine\'s own sockets: names of interfaces they come in by, with * at the end for anything; or "everybody"',
    kubeProxyDefault: ['everybody'],
    defaultFollows: 'none, so own sockets only, when fairlead.nodeObject is "none"',
    change: 'live',
  },
  'fairlead.servedAddresses': {
    kind: 'texts',
    about:
      'addresses of Services that are served beside their ClusterIPs: "externalIPs", "loadBalancerIPs"',
    kubeProxyDefault: ['externalIPs', 'loadBalancerIPs'],
    defaultFollows: 'none, so ClusterIPs only, when fairlead.nodeObject is "none"',
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
    about: "the node's primary address, if not 0.0.0.0 or ::; nothing is bound to it",
    kubeProxyDefault: '0.0.0.0',
    zeroIsUnset: true,
    change: 'live',
  },
  healthzBindAddress: {
    kind: 'text',
    about: 'where /healthz, /livez and /readyz are served',
    kubeProxyDefault: '0.0.0.0:10256',
    defaultFollows: '[::]:10256 when the file sets bindAddress to an IPv6 address',
    why: 'With fairlead.nodeObject "none", loopback only: 127.0.0.1:10256, or [::1]:10256. No load balancer asks such a machine.',
    zeroIsUnset: true,
    change: 'restart',
  },
  metricsBindAddress: {
    kind: 'text',
    about: 'where /metrics, /proxyMode and /configz are served',
    kubeProxyDefault: '127.0.0.1:10249',
    defaultFollows: '[::1]:10249 when the file sets bindAddress to an IPv6 address',
    zeroIsUnset: true,
    change: 'restart',
  },
  bindAddressHardFail: {
    kind: 'boolean',
    about: 'end the process when one of its servers cannot listen',
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
    about: 'show metrics that kube-proxy hid since this version',
    kubeProxyDefault: '',
    noEffect: 'Fairlead hides no metrics.',
    change: 'restart',
  },
  oomScoreAdj: {
    kind: 'int32',
    about: 'how much the kernel spares this process when memory runs out',
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
      'content types asked of the API server; empty: protobuf, or JSON where that is not offered',
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
    about: 'requests a second to the API server',
    kubeProxyDefault: 5,
    zeroIsUnset: true,
    noEffect: ONE_CONNECTION,
    change: 'restart',
  },
  'clientConnection.burst': {
    kind: 'int32',
    about: 'requests at once to the API server',
    kubeProxyDefault: 10,
    zeroIsUnset: true,
    min: 0,
    noEffect: ONE_CONNECTION,
    change: 'restart',
  },
  configSyncPeriod: {
    kind: 'duration',
    about: 'how often the objects already known are handled again',
    kubeProxyDefault: 15 * MINUTE_MS,
    zeroIsUnset: true,
    aboveZero: true,
    noEffect:
      'Fairlead acts on what differs; handling the same objects again would change nothing.',
    change: 'restart',
  },
  featureGates: {
    kind: 'switches',
    about:
      'AllowServiceExternalIPs, ComponentFlagz, ComponentStatusz, KubeProxyIPVS and KubeProxyNFTablesLocalhostNodePorts have a meaning here',
    kubeProxyDefault: {},
    why: 'Names that Fairlead does not know are warned about; kube-proxy refuses to start.',
    change: 'restart',
  },
  'logging.format': {
    kind: 'text',
    about: 'form of the log lines',
    kubeProxyDefault: 'text',
    choices: ['text', 'json'],
    zeroIsUnset: true,
    change: 'restart',
  },
  'logging.verbosity': {
    kind: 'int32',
    about: 'how much is logged: 0 what matters, 2 changes, 4 details',
    kubeProxyDefault: 0,
    min: 0,
    change: 'live',
  },
  'logging.flushFrequency': {
    kind: 'durationOrNanoseconds',
    about: 'how long log lines may be held back',
    kubeProxyDefault: 5 * SECOND_MS,
    zeroIsUnset: true,
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.vmodule': {
    kind: 'filePatterns',
    about: "verbosity of single source files of kube-proxy's",
    kubeProxyDefault: [],
    noEffect: 'It names source files of kube-proxy, which Fairlead does not have.',
    change: 'restart',
  },
  'logging.options.text.splitStream': {
    kind: 'boolean',
    about: 'errors and the rest to different streams',
    kubeProxyDefault: false,
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.options.text.infoBufferSize': {
    kind: 'quantity',
    about: 'how much is buffered',
    kubeProxyDefault: '0',
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.options.json.splitStream': {
    kind: 'boolean',
    about: 'errors and the rest to different streams',
    kubeProxyDefault: false,
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
  'logging.options.json.infoBufferSize': {
    kind: 'quantity',
    about: 'how much is buffered',
    kubeProxyDefault: '0',
    noEffect: SYNCHRONOUS_LOG,
    change: 'restart',
  },
} as const satisfies Record<string, FieldRow>;

/** The fields of ours that say how traffic is handled; here because one names every mode. */
export const OWN_MODE_FIELDS = {
  'fairlead.mode': {
    kind: 'text',
    about: 'the mode, when it is one that kube-proxy does not have; wins over mode',
    kubeProxyDefault: '',
    choices: MODE_NAMES,
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.cgroup': {
    kind: 'text',
    about:
      'the control group (version 2) whose sockets are served, pods and all; empty: the root of the machine. For socket-ebpf and tc-ebpf',
    kubeProxyDefault: '',
    change: 'restart',
  },
  'fairlead.pinFolder': {
    kind: 'text',
    about:
      'where in a bpf file system maps and programs outlive the process. For socket-ebpf and tc-ebpf',
    kubeProxyDefault: '/sys/fs/bpf/fairlead',
    zeroIsUnset: true,
    change: 'restart',
  },
  'fairlead.interfaces': {
    kind: 'texts',
    about:
      'names of the interfaces whose packets are served, with * for anything; empty: all but loopback. For tc-ebpf',
    kubeProxyDefault: [],
    modes: modesWith(({ choosesInterfaces }) => choosesInterfaces === true),
    change: 'restart',
  },
} as const satisfies Record<string, FieldRow>;
