import { FAIRLEAD_NAMES } from '../../lab/proxies/fairlead.ts';
import type { LateSabotage } from './sabotage.ts';

/** A proxy that is right in the end, and late: what every scenario would forgive that waits. */
export const latenessSabotages: readonly LateSabotage[] = [
  {
    name: 'one-service-6s-late',
    title: 'one Service is late by 6 s when an endpoint becomes unready; all others are in time',
    proxies: FAIRLEAD_NAMES,
    noticedBy: { scenario: 'cluster-ip/follows-readiness' },
    delayMs: 6_000,
    service: 'NAMESPACE/web',
  },
  {
    name: 'one-service-300ms-late',
    title: 'one Service is late by 0.3 s when an endpoint becomes unready; all others are in time',
    proxies: FAIRLEAD_NAMES,
    noticedBy: { scenario: 'cluster-ip/follows-readiness' },
    delayMs: 300,
    service: 'NAMESPACE/web',
  },
  {
    name: 'everything-300ms-late',
    title: 'every Service is late by 0.3 s, that of the barrier too',
    proxies: FAIRLEAD_NAMES,
    noticedBy: 'promptness',
    delayMs: 300,
    service: '*',
  },
  {
    name: 'every-change-6s-late',
    title:
      'all Services of a scenario are late by 6 s from its first step on; the barrier is in time',
    proxies: FAIRLEAD_NAMES,
    noticedBy: 'every change',
    delayMs: 6_000,
    service: 'NAMESPACE/*',
  },
];

/** Scenarios that change something and are right with a late proxy too, each with the reason. */
export const BLIND_TO_LATENESS: Readonly<Record<string, string>> = {};
