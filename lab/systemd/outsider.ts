import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { paths } from '../api/objects.ts';
import { type Progress, silentProgress } from '../host/progress.ts';
import { type Lab, startLab } from '../lab.ts';
import { outsiderAddress } from '../network/plan.ts';
import { DNS_DOMAIN } from '../real/plan.ts';
import { type CoreDns, startCoreDns } from '../servers/coredns.ts';
import { type LanDns, startLanDns } from '../servers/lan-dns.ts';
import { bootSystemd, type SystemdMachine } from './boot.ts';

/** A name that both DNS servers know, and what each says. */
export const OTHER_NAME = 'www.example.org';
export const LAN_ANSWER = '192.0.2.80';
export const CLUSTER_ANSWER = '198.51.100.66';
/** The pod of Service default/web answers with its name. */
export const WEB_POD = 'web-1';
export const WEB_NAME = `web.default.svc.${DNS_DOMAIN}`;
const LAN_DNS = outsiderAddress('client').ipv4;

/** A machine with systemd beside a cluster with DNS; nothing of Fairlead is set up on it. */
export interface Outsider extends AsyncDisposable {
  readonly lab: Lab;
  readonly dns: CoreDns;
  readonly lan: LanDns;
  readonly machine: SystemdMachine;
}

/** The LAN's DNS server by its interface, as a DHCP client has it. */
const LAN_UNIT = `[Unit]
After=systemd-resolved.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=resolvectl dns eth0 ${LAN_DNS}
[Install]
WantedBy=multi-user.target
`;
const LAN_UNIT_NAME = 'lan.service';

export async function startOutsider(
  options: { readonly progress?: Progress; readonly signal?: AbortSignal | undefined } = {},
): Promise<Outsider> {
  const { progress = silentProgress, signal } = options;
  await using stack = new AsyncDisposableStack();
  const lab = stack.use(await startLab({ nodeCount: 1, progress, signal }));
  const other = { name: OTHER_NAME, address: CLUSTER_ANSWER };
  const dns = await progress.step('CoreDNS behind the Service kube-dns', () =>
    startCoreDns(lab, { other, progress, signal }),
  );
  const lan = stack.use(
    await startLanDns({
      namespacePath: lab.namespacePath('client'),
      address: LAN_DNS,
      answer: LAN_ANSWER,
      unknownDomain: DNS_DOMAIN,
    }),
  );
  await startWeb(lab);
  const machine = stack.use(
    await bootSystemd({ lab: lab.name, role: 'machine', progress, signal }),
  );
  await writeFile(machine.path(`/etc/systemd/system/${LAN_UNIT_NAME}`), LAN_UNIT);
  await machine.run(['systemctl', 'enable', '--now', LAN_UNIT_NAME]);
  await writeKubeconfig(lab, machine);
  const owned = stack.move();
  return { lab, dns, lan, machine, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function startWeb(lab: Lab): Promise<void> {
  await lab.pods.run({
    namespace: 'default',
    name: WEB_POD,
    nodeIndex: 1,
    labels: { app: 'web' },
    ports: [{ port: 8080, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
  await lab.api.create(paths.services('default'), {
    metadata: { name: 'web' },
    spec: {
      selector: { app: 'web' },
      ipFamilyPolicy: 'RequireDualStack',
      ports: [{ port: 80, targetPort: 8080 }],
    },
  });
  await lab.slices.until('default', {
    what: 'the pod of Service web in both families',
    holds: (slices) =>
      ['IPv4', 'IPv6'].every((type) =>
        slices.some(
          ({ metadata, addressType, endpoints }) =>
            metadata.labels?.['kubernetes.io/service-name'] === 'web' &&
            addressType === type &&
            (endpoints ?? []).length > 0,
        ),
      ),
  });
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Record<string, string> }[];
}

/** The administrator's, where kubectl expects it, with the certificate in it. */
async function writeKubeconfig(lab: Lab, machine: SystemdMachine): Promise<void> {
  const config = JSON.parse(await readFile(lab.credentials.adminKubeconfig, 'utf8')) as Kubeconfig;
  const authority = await readFile(lab.credentials.certificateAuthorityFile);
  for (const { cluster } of config.clusters) {
    delete cluster['certificate-authority'];
    cluster['certificate-authority-data'] = authority.toString('base64');
  }
  await mkdir(machine.path('/root/.kube'), { recursive: true });
  await writeFile(machine.path('/root/.kube/config'), JSON.stringify(config), { mode: 0o600 });
}
