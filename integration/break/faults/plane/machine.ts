import { kernelHas } from '../../../../lab/host/kernel-parts.ts';
import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { run } from '../../../../lab/host/run.ts';
import { withoutShared } from './shared-rules.ts';

/** What a program could have left on a machine. */
export interface Machine {
  readonly rules: string;
  readonly addresses: string;
  readonly routing: string;
  readonly virtualServers: string;
  readonly settings: string;
  /** Connections whose destination is translated. */
  readonly translated: string;
  /** Those of `STRANGER_FLOWS`, with the numbers by which the kernel knows them. */
  readonly strangerFlows: string;
}

const SETTINGS = '^net\\.(netfilter|ipv4\\.ip_forward|ipv4\\.conf\\.|ipv4\\.vs\\.|ipv6\\.conf\\.)';
/** A flow without translation, from an address that no lab has. */
const STRANGER = '10.9.9.9';

export async function readMachine(namespacePath: string): Promise<Machine> {
  const inside = (...argv: [string, ...string[]]): Promise<string> =>
    run(enterNamespace(namespacePath, argv));
  const settings = await inside('sysctl', '-a', '--pattern', SETTINGS);
  const flows = await inside('conntrack', '-L', '-o', 'id');
  return {
    rules: withoutShared(await inside('nft', '-s', 'list', 'ruleset')),
    addresses: await inside('ip', 'address'),
    routing: (await inside('ip', 'rule')) + (await inside('ip', '-6', 'rule')),
    virtualServers: kernelHas('ipvs') ? await inside('ipvsadm', '-S', '-n') : '',
    settings: settings.replaceAll(/^net\.netfilter\.nf_conntrack_count = .*\n/gm, ''),
    translated: linesOf(flows, isTranslated),
    strangerFlows: linesOf(flows, (line) => line.includes(`src=${STRANGER}`), /.*(?=id=)/),
  };
}

export async function makeStrangerFlows(namespacePath: string): Promise<void> {
  for (const port of [53, 80, 5353]) {
    const tuple = ['-s', STRANGER, '-d', '192.0.2.1', '--sport', '999', '--dport', `${port}`];
    const flow = ['-I', '-p', 'udp', ...tuple, '--timeout', '3600'];
    await run(enterNamespace(namespacePath, ['conntrack', ...flow]));
  }
}

/** Parts of a machine in which two moments differ. */
export function changedParts(before: Machine, after: Machine): (keyof Machine)[] {
  const parts = Object.keys(before) as (keyof Machine)[];
  return parts.filter((part) => before[part] !== after[part]);
}

/** Each of these parts with the first line that was not there before. */
export function changesText(before: Machine, after: Machine): string {
  return changedParts(before, after)
    .map((part) => `${part}: ${newLine(before[part], after[part])}`)
    .join('; ');
}

function newLine(before: string, after: string): string {
  const known = new Set(before.split('\n'));
  return after.split('\n').find((line) => !known.has(line)) ?? 'lines are missing';
}

function linesOf(text: string, isWanted: (line: string) => boolean, without = /^$/): string {
  const lines = text.split('\n').filter(isWanted);
  return lines
    .map((line) => line.replace(without, ''))
    .sort()
    .join('\n');
}

/** The replies have another source than the destination of the request. */
function isTranslated(line: string): boolean {
  const [, asked] = /\bdst=(\S+)/.exec(line) ?? [];
  const [, answering] = /\bsrc=\S+.*?\bsrc=(\S+)/.exec(line) ?? [];
  return asked !== undefined && asked !== answering;
}
