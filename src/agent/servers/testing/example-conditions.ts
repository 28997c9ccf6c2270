import type { Condition, Conditions, FamilyCondition } from '../../conditions.ts';
import type { AgentSnapshot } from '../../snapshot.ts';

export function condition(isTrue = true): Condition {
  return { isTrue, sinceMs: 0, why: '' };
}

export function familyCondition(more: Partial<FamilyCondition> = {}): FamilyCondition {
  return { ...condition(), ...more };
}

/** All conditions hold, except for the given ones. */
export function conditionsWith(more: Partial<Conditions> = {}): Conditions {
  const good = condition();
  return {
    connected: { service: good, slice: good, node: good, serviceCidr: good, namespace: good },
    apiFresh: good,
    apiComplete: good,
    listed: good,
    firstSync: good,
    synced: good,
    timely: { IPv4: good, IPv6: good },
    errorFree: good,
    undisturbed: good,
    watching: good,
    unpaced: good,
    affinityRoom: good,
    addressesServed: good,
    nodePortsFree: good,
    nodeEligible: good,
    ...more,
  };
}

export function snapshotWith(more: Partial<AgentSnapshot> = {}): AgentSnapshot {
  const none = { count: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };
  return {
    mode: 'nftables',
    node: {
      nodeName: 'node1',
      zone: '',
      nodeIPs: [],
      detectsPods: { IPv4: true, IPv6: true },
      masqueradeAll: false,
      allowExternalIPs: true,
      addressRules: 'strict',
      serviceRanges: [],
    },
    startedAtMs: 0,
    atMs: 0,
    rows: { desired: 0, applied: 0, pending: 0 },
    failingRows: [],
    failingRowCount: 0,
    pace: { rows: [], rowCount: 0, namespaces: [], namespaceCount: 0, longestWaitMs: 0 },
    addresses: {
      notServed: {
        'other-service': 0,
        'service-range': 0,
        'outside-ranges': 0,
        'api-server': 0,
        'host-socket': 0,
      },
      conflicts: [],
    },
    notServed: [],
    conditions: conditionsWith(),
    drifts: [],
    driftCount: 0,
    propagation: { received: none, triggered: none },
    sources: [],
    ...more,
  };
}
