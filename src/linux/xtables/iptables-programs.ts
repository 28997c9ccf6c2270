import { findOnPath } from '../find-on-path.ts';

/** The two ways in which iptables reaches the kernel. Each has tables of its own. */
export type Backend = 'nft' | 'legacy';

export const BACKENDS: readonly Backend[] = ['nft', 'legacy'];

export type IptablesFamily = 'IPv4' | 'IPv6';

export const IPTABLES_TABLES = ['mangle', 'filter', 'nat'] as const;

export type IptablesTable = (typeof IPTABLES_TABLES)[number];

/** The program of a backend that is iptables and all of its relatives; undefined: not installed. */
export function findProgram(backend: Backend, path?: string): string | undefined {
  return findOnPath(programName(backend), path);
}

export function programName(backend: Backend): string {
  return `xtables-${backend}-multi`;
}

/** How the program is called for a family. */
export function toolName(family: IptablesFamily, tool: 'save' | 'restore' | 'list'): string {
  const name = family === 'IPv4' ? 'iptables' : 'ip6tables';
  return tool === 'list' ? name : `${name}-${tool}`;
}
