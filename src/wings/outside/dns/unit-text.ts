import { unitWord } from '../unit-text.ts';
import type { DnsPlan } from './plan.ts';

/**
 * /etc/systemd/system/fairlead-dns.service: makes the link again after a reboot. A systemd-resolved
 * that is restarted keeps the settings of links; as a part of it the unit would take the link away
 * for a moment. Not after fairlead.service: while that waits for the API server, names of the cluster
 * would be asked of other servers.
 */
export function dnsUnitText(plan: DnsPlan, program: readonly string[]): string {
  const servers = plan.servers.flatMap((server) => ['--server', server]);
  const command = (action: string, more: readonly string[]): string =>
    [...program, 'outside', 'dns', action, ...more].map(unitWord).join(' ');
  return `# Names of the cluster on a machine outside of it: docs/outside.md.
[Unit]
Description=Names of the Kubernetes cluster by systemd-resolved
After=systemd-resolved.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${command('link', ['--domain', plan.domain, ...servers])}
ExecStop=${command('unlink', [])}
TimeoutStartSec=60
TimeoutStopSec=30

# It makes one interface, and talks to systemd-resolved by D-Bus.
CapabilityBoundingSet=CAP_NET_ADMIN
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX

[Install]
WantedBy=systemd-resolved.service
`;
}
