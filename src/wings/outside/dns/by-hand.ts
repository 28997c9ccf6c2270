import type { DnsPlan } from './dns-plan.ts';
import type { Resolver, ResolverKind } from './resolver.ts';

/** What a person can do where `apply` cannot; empty: apply does it. */
export function byHand(resolver: Pick<Resolver, 'kind'>, plan: DnsPlan): string {
  switch (resolver.kind) {
    case 'resolved':
    case 'resolved-bypassed':
      return '';
    case 'dnsmasq':
      return dnsmasqText('/etc/dnsmasq.d/fairlead.conf', 'restart dnsmasq', plan);
    case 'unbound':
      return unboundText(plan);
    case 'NetworkManager':
      return networkManagerText(plan);
    default:
      return plainText(plan);
  }
}

function dnsmasqText(file: string, restart: string, { servers, domain }: DnsPlan): string {
  return `Write ${file} and ${restart}:

${servers.map((server) => `  server=/${domain}/${server}`).join('\n')}
  rebind-domain-ok=/${domain}/`;
}

function unboundText({ servers, domain }: DnsPlan): string {
  return `Write /etc/unbound/unbound.conf.d/fairlead.conf, and restart unbound:

  server:
    domain-insecure: "${domain}"
    private-domain: "${domain}"
  forward-zone:
    name: "${domain}"
${servers.map((server) => `    forward-addr: ${server}`).join('\n')}`;
}

function networkManagerText(plan: DnsPlan): string {
  const file = '/etc/NetworkManager/dnsmasq.d/fairlead.conf';
  return `Either install systemd-resolved, which NetworkManager then uses, and apply; or
set dns=dnsmasq in section [main] of /etc/NetworkManager/NetworkManager.conf.
${dnsmasqText(file, 'restart NetworkManager', plan)}`;
}

function plainText(plan: DnsPlan): string {
  const file = '/etc/dnsmasq.d/fairlead.conf';
  return `The C library asks the servers of /etc/resolv.conf in turn for every name: it
cannot send one domain elsewhere. Do not add the cluster's server there: every
name of this machine would be asked of the cluster. Instead install
systemd-resolved, and apply; or install dnsmasq.
${dnsmasqText(file, 'make it the only nameserver', plan)}`;
}

const DESCRIPTIONS: Readonly<Record<ResolverKind, string>> = {
  resolved: 'systemd-resolved answers every program',
  'resolved-bypassed': 'systemd-resolved, bypassed by programs that read /etc/resolv.conf',
  dnsmasq: 'dnsmasq on this machine',
  unbound: 'unbound on this machine',
  'local-server': 'a DNS server on this machine',
  NetworkManager: 'the servers of /etc/resolv.conf, written by NetworkManager',
  resolvconf: 'the servers of /etc/resolv.conf, written by resolvconf',
  plain: 'the servers of /etc/resolv.conf, a plain file',
};

export function resolverText({ kind, servers }: Resolver): string {
  const behind = kind === 'resolved' || servers.length === 0 ? '' : `: ${servers.join(', ')}`;
  return `${DESCRIPTIONS[kind]}${behind}`;
}
