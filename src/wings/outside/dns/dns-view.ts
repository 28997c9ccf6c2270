import { formatTextTable } from '../../../commands/text-table.ts';
import { below, THIS_MACHINE } from '../paths.ts';
import type { Applied } from './apply.ts';
import { byHand, resolverText } from './by-hand.ts';
import type { FoundPlan } from './dns-options.ts';
import { DNS_LINK, DNS_UNIT_FILE, DNS_UNIT_NAME } from './dns-plan.ts';
import type { Leak } from './leaks.ts';
import type { Scope } from './resolvectl.ts';
import type { Resolver } from './resolver.ts';

/** What `print` found. */
export interface Findings {
  readonly root: string;
  readonly plan: FoundPlan;
  readonly resolver: Resolver;
  readonly isApplied: boolean;
  /** Undefined: systemd-resolved was not asked. */
  readonly others: readonly Scope[] | undefined;
  readonly leaks: readonly Leak[];
}

export function printView(found: Findings): string {
  const { plan, resolver, others, leaks } = found;
  const rows = [
    ['resolver', resolverText(resolver)],
    ...(resolver.target === undefined ? [] : [['resolv.conf', resolver.target]]),
    ['cluster DNS', plan.servers.join(', ')],
    ['', plan.origin],
    ['domain', plan.domain],
    ...(others === undefined ? [] : [['other names', scopesText(others)]]),
  ];
  const parts = [firstLine(found), table(rows), ...leaks.map(leakText)];
  if (!found.isApplied) parts.push(byHand(resolver, plan) || stepsText(found));
  return parts.join('\n\n');
}

function firstLine({ plan, resolver, isApplied }: Findings): string {
  if (isApplied) return `set up: names of ${plan.domain} are asked of the cluster, and no others`;
  return byHand(resolver, plan) === ''
    ? `not set up: \`fairlead outside dns apply\` makes names of ${plan.domain} work`
    : 'not set up, and apply cannot do it on this machine; by hand, see below';
}

function stepsText({ root, plan }: Findings): string {
  const servers = plan.servers.join(' ');
  return `apply would
  create interface ${DNS_LINK} with a route to each server
  resolvectl dns ${DNS_LINK} ${servers}
  resolvectl domain ${DNS_LINK} ~${plan.domain}
  resolvectl default-route ${DNS_LINK} no
  write ${below(root, DNS_UNIT_FILE)}, for the next boot
Other names go where they go now.`;
}

export function leakText({ file, servers }: Leak): string {
  return `${file} makes ${servers.join(', ')}
a server for every name of this machine, not only for those of the cluster;
Domains= does not confine DNS=. Remove that line (systemctl restart
systemd-resolved)`;
}

export function printData({ plan, resolver, isApplied, others, leaks }: Findings): object {
  return {
    applied: isApplied,
    resolver,
    canApply: byHand(resolver, plan) === '',
    servers: plan.servers,
    domain: plan.domain,
    origin: plan.origin,
    otherServers: others?.map(({ link, servers }) => ({ link: link ?? null, servers })) ?? [],
    leaks,
  };
}

export function appliedView({ plan, silent, verdict, others }: Applied, root: string): string {
  if (verdict === undefined) {
    return `${below(root, DNS_UNIT_FILE)} is written\n\nnext, on the machine: systemctl enable --now ${DNS_UNIT_NAME}`;
  }
  const first = verdict.works
    ? `names of ${plan.domain} work: ${verdict.name} is ${verdict.addresses.join(', ')}`
    : `names of ${plan.domain} are set up, but do not work yet: ${verdict.problem}`;
  const rows = [
    [plan.domain, `${plan.servers.join(', ')} by interface ${DNS_LINK}`],
    ...silent.map((server) => ['not used', `${server} does not answer`]),
    ['other names', `${scopesText(others)}, as before`],
    ['made', `interface ${DNS_LINK}, ${DNS_UNIT_FILE}`],
    ['to undo', 'fairlead outside dns undo'],
  ];
  return [first, table(rows), ...(verdict.works ? [] : [`next: ${verdict.next}`])].join('\n\n');
}

export function undoneView(removed: readonly string[], root: string): string {
  if (removed.length === 0)
    return 'nothing to undo: `fairlead outside dns apply` made nothing here';
  const first = root === THIS_MACHINE ? 'names are resolved as before; removed' : 'removed';
  return [first, ...removed.map((name) => `  ${name}`)].join('\n');
}

function scopesText(scopes: readonly Scope[]): string {
  const used = scopes.filter(({ servers }) => servers.length > 0);
  if (used.length === 0) return 'no server known to systemd-resolved';
  return used.map(({ link, servers }) => `${servers.join(', ')} (${link ?? 'global'})`).join('; ');
}

function table(rows: readonly (readonly string[])[]): string {
  return formatTextTable(rows);
}
