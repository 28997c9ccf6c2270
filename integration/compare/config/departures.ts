export interface Departure {
  /** As the comparison words it. */
  readonly finding: string;
  readonly why: string;
}

const LENIENT = 'only kube-proxy rejects';
const GATE: Departure = {
  finding: LENIENT,
  why: 'names of gates come and go with every release; Fairlead warns and starts',
};
const LOCKED: Departure = {
  finding: LENIENT,
  why: 'the feature of the gate cannot be disabled; Fairlead warns and starts',
};
const NULL_DURATION: Departure = {
  finding: LENIENT,
  why: 'null means "not set" for every field',
};
const NO_EFFECT: Departure = {
  finding: LENIENT,
  why: 'the field has no effect here, so no value of it is wrong',
};

/** Files of which Fairlead makes something else on purpose. */
export const DEPARTURES: Readonly<Record<string, Departure>> = {
  'mode: ""': {
    finding: 'differs in mode, nodePortAddresses',
    why: 'the default mode is nftables, and such a file keeps node ports on all addresses',
  },
  'mode: nftables\nconfigSyncPeriod: null': NULL_DURATION,
  'mode: nftables\nnftables: {syncPeriod: null}': NULL_DURATION,
  'mode: nftables\niptables: {masqueradeBit: 99}': {
    finding: LENIENT,
    why: 'the blocks of other modes are not validated; kube-proxy validates this one in every mode',
  },
  'mode: nftables\nfeatureGates: {NFTablesProxyMode: false}': LOCKED,
  'mode: nftables\nfeatureGates: {MultiCIDRServiceAllocator: false}': LOCKED,
  'mode: nftables\nfeatureGates: {PreferSameTrafficDistribution: false}': LOCKED,
  'mode: nftables\nfeatureGates: {NoSuchGate: true}': GATE,
  'mode: nftables\nfeatureGates: {SidecarContainers: true}': GATE,
  'mode: nftables\nfeatureGates: {AllAlpha: true}': GATE,
  'mode: nftables\nshowHiddenMetricsForVersion: "1.35"': NO_EFFECT,
  'mode: nftables\nshowHiddenMetricsForVersion: x': NO_EFFECT,
};
