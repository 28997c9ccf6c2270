import { type FieldRow, HOUR_MS } from './field-row.ts';

const WINDOWS = 'Windows only; Fairlead runs on Linux.';

/** Connection tracking, and fields that have no effect on Linux any longer. */
export const KERNEL_FIELDS = {
  'conntrack.maxPerCore': {
    kind: 'int32',
    about:
      'maximum number of conntrack entries per CPU; 0 keeps the value of the kernel and ignores min',
    kubeProxyDefault: 32_768,
    min: 0,
    change: 'live',
  },
  'conntrack.min': {
    kind: 'int32',
    about: 'minimum of the conntrack limit, whatever the number of CPUs',
    kubeProxyDefault: 131_072,
    min: 0,
    change: 'live',
  },
  'conntrack.tcpEstablishedTimeout': {
    kind: 'duration',
    about: 'timeout of idle TCP connections; 0 keeps the value of the kernel',
    kubeProxyDefault: 24 * HOUR_MS,
    min: 0,
    change: 'live',
  },
  'conntrack.tcpCloseWaitTimeout': {
    kind: 'duration',
    about: 'timeout of TCP connections in CLOSE_WAIT; 0 keeps the value of the kernel',
    kubeProxyDefault: HOUR_MS,
    min: 0,
    change: 'live',
  },
  'conntrack.tcpBeLiberal': {
    kind: 'boolean',
    about:
      'do not treat packets outside of the TCP window as invalid; false keeps the value of the kernel',
    kubeProxyDefault: false,
    change: 'live',
  },
  'conntrack.udpTimeout': {
    kind: 'duration',
    about: 'timeout of UDP flows without a reply; 0 keeps the value of the kernel',
    kubeProxyDefault: 0,
    min: 0,
    change: 'live',
  },
  'conntrack.udpStreamTimeout': {
    kind: 'duration',
    about: 'timeout of UDP flows with replies; 0 keeps the value of the kernel',
    kubeProxyDefault: 0,
    min: 0,
    change: 'live',
  },
  portRange: {
    kind: 'text',
    about: "ports of kube-proxy's former userspace mode",
    kubeProxyDefault: '',
    noEffect: 'kube-proxy ignores it too, since 1.26.',
    change: 'restart',
  },
  windowsRunAsService: {
    kind: 'boolean',
    about: 'run as a Windows service',
    kubeProxyDefault: false,
    noEffect: WINDOWS,
    change: 'restart',
  },
  'winkernel.networkName': {
    kind: 'text',
    about: 'network name on Windows',
    kubeProxyDefault: '',
    noEffect: WINDOWS,
    change: 'restart',
  },
  'winkernel.sourceVip': {
    kind: 'text',
    about: 'source address on Windows',
    kubeProxyDefault: '',
    noEffect: WINDOWS,
    change: 'restart',
  },
  'winkernel.enableDSR': {
    kind: 'boolean',
    about: 'direct server return on Windows',
    kubeProxyDefault: false,
    noEffect: WINDOWS,
    change: 'restart',
  },
  'winkernel.rootHnsEndpointName': {
    kind: 'text',
    about: 'endpoint name on Windows',
    kubeProxyDefault: '',
    noEffect: WINDOWS,
    change: 'restart',
  },
  'winkernel.forwardHealthCheckVip': {
    kind: 'boolean',
    about: 'health checks on Windows',
    kubeProxyDefault: false,
    noEffect: WINDOWS,
    change: 'restart',
  },
} as const satisfies Record<string, FieldRow>;
