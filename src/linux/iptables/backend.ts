import { readFileSync } from 'node:fs';
import { IptablesError, isIncompatible } from '../xtables/iptables-error.ts';
import {
  BACKENDS,
  type Backend,
  findProgram,
  IPTABLES_TABLES,
  type IptablesFamily,
} from '../xtables/iptables-programs.ts';
import { type SaveCall, saveTable } from '../xtables/save.ts';
import type { SavedTable } from '../xtables/saved-table.ts';

const FAMILIES: readonly IptablesFamily[] = ['IPv4', 'IPv6'];
const TABLE_NAMES: Readonly<Record<IptablesFamily, string>> = {
  IPv4: '/proc/net/ip_tables_names',
  IPv6: '/proc/net/ip6_tables_names',
};
/** Chains that the kubelet makes so that others can see which backend the host uses. */
const HINTS = ['KUBE-IPTABLES-HINT', 'KUBE-KUBELET-CANARY'] as const;

export interface FoundBackend {
  readonly backend: Backend;
  readonly program: string;
  /** The other one's program, if it is installed and has any tables here. */
  readonly other?: { readonly backend: Backend; readonly program: string };
}

/**
 * Which backend this machine uses, as the wrapper scripts in kube-proxy's image decide: where the
 * kubelet has left its hint; else where there are more rules; else nft.
 */
export async function findBackend(path?: string): Promise<FoundBackend> {
  const installed = BACKENDS.flatMap((backend) => {
    const program = findProgram(backend, path);
    return program === undefined ? [] : [{ backend, program }];
  });
  const [first, second] = installed;
  if (first === undefined) {
    const message = 'neither xtables-nft-multi nor xtables-legacy-multi was found in PATH';
    throw new IptablesError('IPTABLES_MISSING', message);
  }
  if (second === undefined) return first;
  const looked = [
    { ...first, ...(await look(first)) },
    { ...second, ...(await look(second)) },
  ] as const;
  const hinted = looked.find(({ hasHint }) => hasHint);
  const fuller = looked[1].ruleCount > looked[0].ruleCount ? looked[1] : looked[0];
  const { backend, program } = hinted ?? fuller;
  const other = looked.find((each) => each.backend !== backend && each.isUsed);
  return {
    backend,
    program,
    ...(other ? { other: { backend: other.backend, program: other.program } } : {}),
  };
}

async function look(variant: { backend: Backend; program: string }): Promise<{
  hasHint: boolean;
  ruleCount: number;
  isUsed: boolean;
}> {
  let hasHint = false;
  let ruleCount = 0;
  let isUsed = false;
  for (const family of FAMILIES) {
    for (const table of IPTABLES_TABLES) {
      // Running the legacy program creates the table, which costs every packet from then on.
      if (variant.backend === 'legacy' && !hasLegacyTable(family, table)) continue;
      const saved = await readable({ program: variant.program, family, table });
      isUsed ||= saved === undefined || saved.size > 0;
      if (saved === undefined) continue;
      ruleCount += countRules(saved);
      if (table === 'mangle') hasHint ||= HINTS.some((hint) => saved.has(hint));
    }
  }
  return { hasHint, ruleCount, isUsed };
}

/** Undefined: the table has rules that iptables cannot read. */
async function readable(call: SaveCall): Promise<SavedTable | undefined> {
  try {
    return await saveTable(call);
  } catch (error) {
    if (isIncompatible(error)) return undefined;
    throw error;
  }
}

/** Whether the kernel has any of the tables that the legacy program would have made. */
export function hasLegacyTables(): boolean {
  return FAMILIES.some((family) => IPTABLES_TABLES.some((table) => hasLegacyTable(family, table)));
}

/** Read synchronously: /proc/net shows the network of the thread that opens it. */
function hasLegacyTable(family: IptablesFamily, table: string): boolean {
  try {
    return readFileSync(TABLE_NAMES[family], 'utf8').split('\n').includes(table);
  } catch {
    // A kernel without the legacy tables has no such file, and so none of them.
    return false;
  }
}

function countRules(saved: SavedTable): number {
  let count = 0;
  for (const rules of saved.values()) count += rules.length;
  return count;
}
