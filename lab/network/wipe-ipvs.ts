import { kernelHas } from '../host/kernel-parts.ts';
import { enterNamespace } from '../host/namespaces.ts';
import { run } from '../host/run.ts';

const DEADLINE_MS = 120_000;
/** The device, the sets and the routing rule of the proxies that use IPVS; what is not there is no failure. */
const WIPE = `
  ipvsadm -C
  ip link delete kube-ipvs0 2>/dev/null
  ipset destroy
  for family in -4 -6; do
    while ip $family rule delete fwmark 0x1000/0x1000 2>/dev/null; do :; done
  done
`;

/** Deletes what a proxy has in IPVS of a node, and beside it. Rules that use the sets must be gone. */
export async function wipeIpvs(namespacePath: string): Promise<void> {
  if (!kernelHas('ipvs')) return;
  await run(enterNamespace(namespacePath, ['sh', '-c', `${WIPE}\ntrue`]), {
    deadlineMs: DEADLINE_MS,
  });
}
