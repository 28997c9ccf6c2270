import type { Settings } from '../config/settings.ts';

/** The part of the configuration that the agent follows; all of it while it runs. */
export type AgentSettings = Pick<
  Settings,
  | 'nodeObject'
  | 'nodeAddress'
  | 'localTraffic'
  | 'podNetworks'
  | 'nodePorts'
  | 'addressRules'
  | 'clients'
  | 'servedAddresses'
  | 'zone'
  | 'scope'
  | 'serviceRanges'
  | 'clusterDns'
  | 'masquerade'
  | 'syncPeriodMs'
  | 'features'
>;
