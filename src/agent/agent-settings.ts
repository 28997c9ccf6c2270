import type { Settings } from '../config/settings.ts';

/** The part of the configuration that the agent follows; all of it while it runs, but the mode. */
export type AgentSettings = Pick<
  Settings,
  | 'mode'
  | 'nodeObject'
  | 'nodeAddress'
  | 'localTraffic'
  | 'podNetworks'
  | 'nodePorts'
  | 'addressRules'
  | 'clients'
  | 'servedAddresses'
  | 'masquerade'
  | 'syncPeriodMs'
  | 'features'
>;
