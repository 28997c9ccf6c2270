import type { ServiceNeeds } from '../../modes/service-needs.ts';
import { CONFIG_FILE } from './paths.ts';

export interface UnitOptions {
  /** The command that starts Fairlead. */
  readonly program: readonly string[];
  readonly needs: ServiceNeeds;
}

const FORWARDER_GOES_ON = `# Only the agent ends with the service. The forwarder goes on with open connections: the next agent
# adopts it, and without one it ends after its last connection.
KillMode=process
`;

/** /etc/systemd/system/fairlead.service. deploy/systemd/fairlead.service is this text for nftables. */
export function unitText({ program, needs }: UnitOptions): string {
  const start = [...program, 'run', '--config', CONFIG_FILE].map(unitWord).join(' ');
  const { sharedFile } = needs;
  return `# Fairlead on a machine without a kubelet: docs/outside.md.
[Unit]
Description=Fairlead, the Kubernetes node proxy
Wants=network-online.target
After=network-online.target

[Service]
# Ready when every Service is in the kernel. It retries while the API server is unreachable.
Type=notify
Environment=NODE_OPTIONS=--max-semi-space-size=16
${sharedFile === undefined ? '' : `ExecStartPre=+/bin/sh -c '[ -e ${sharedFile} ] || touch ${sharedFile}'\n`}ExecStart=${start}
TimeoutStartSec=infinity
Restart=always
RestartSec=2
WatchdogSec=60
OOMScoreAdjust=-999
${needs.leavesProcess ? FORWARDER_GOES_ON : ''}
# The files of \`fairlead status\` and \`fairlead cleanup\` survive a restart of the service.
RuntimeDirectory=fairlead
RuntimeDirectoryPreserve=yes
# The token for the API server, which is renewed.
StateDirectory=fairlead
StateDirectoryMode=0700

# It writes rules and sysctls below /proc/sys/net, and nothing else.
CapabilityBoundingSet=${needs.capabilities.map((name) => `CAP_${name}`).join(' ')}
NoNewPrivileges=yes
ProtectSystem=strict
${sharedFile === undefined ? '' : `ReadWritePaths=-${sharedFile}\n`}ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=${needs.entersNetworkNamespaces ? 'net' : 'yes'}
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=${['@system-service', ...needs.systemCalls].join(' ')}
SystemCallErrorNumber=EPERM
UMask=0077

[Install]
WantedBy=multi-user.target
`;
}

/** systemd splits at spaces, and expands % and $. */
export function unitWord(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s"';]/.test(escaped) ? `"${escaped.replaceAll('"', '\\"')}"` : escaped;
}
