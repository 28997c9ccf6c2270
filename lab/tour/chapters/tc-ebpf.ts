import { MACHINE } from '../../network/plan.ts';
import { startOutside } from '../../outside/start.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { compileCommand } from '../toys/compile.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

export const TC_EBPF: Chapter = {
  name: 'tc-ebpf',
  title: 'A program at the interface: tc and eBPF',
  learn: 'How 50 lines of C translate every packet at the device, and what a whole proxy adds.',
  repeats: ['cracking 7.3', 'cracking 7.4', 'model 7'],
  kernelParts: ['btf'],
  programs: ['clang', 'tc', 'bpftool', 'tcpdump'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [1] });
    const podIp = pods[0]?.address.ipv4 ?? '';
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    stage.say(`A program for the hook \`tc\` sees a packet just before the device sends it, and just after
      it received one. [tc.bpf.c](../../lab/tour/toys/tc.bpf.c) changes the destination on the way out
      and the source on the way in, and corrects both checksums. There is no connection tracking: every
      packet is changed for itself.`);
    const { command, object } = compileCommand({
      name: 'tc',
      folder: lab.folder,
      clusterIp: WEBAPP.clusterIp,
      podIp,
    });
    await stage.on(MACHINE, command);
    await stage.on(MACHINE, 'tc qdisc add dev eth0 clsact');
    await stage.on(MACHINE, `tc filter add dev eth0 egress bpf da obj ${object} sec egress`);
    await stage.on(MACHINE, `tc filter add dev eth0 ingress bpf da obj ${object} sec ingress`);
    await stage.on(MACHINE, 'tc filter show dev eth0 egress');
    stage.say(`The hook comes late: the kernel has already chosen the way, and for the ClusterIP that is
      the default router. So the ClusterIP gets the way of the pod, through \`node1\`:`);
    await stage.on(MACHINE, `ip route add ${WEBAPP.clusterIp} via 172.30.1.1`);
    const answer = await stage.on(MACHINE, `curl -sm 2 ${url}`);
    stage.check('the ClusterIP answers', answer === 'webapp-0');
    stage.say(`It changes also what it should not: a connection to the pod's own address gets answers from
      the ClusterIP, which nobody asked, and fails. A toy has no memory of who asked for what.`);
    await stage.on(MACHINE, `curl -sm 2 http://${podIp}/hostname`, {
      exits: 28,
      shows: 'with the toy the pod is not reachable by its own address',
    });
    await stage.on(MACHINE, 'tc qdisc del dev eth0 clsact');
    await stage.on(MACHINE, `ip route del ${WEBAPP.clusterIp}`);
    stage.say(`Fairlead in tc-ebpf mode uses the kernel's connection tracking for that memory, and maps
      instead of constants. \`bpftool\` shows its programs at the devices:`);
    await startOutside(lab, { variant: findProxy('fairlead-tc-ebpf') });
    await stage.on(MACHINE, 'bpftool net list', { keep: (line) => !line.includes('xdp') });
    const both = await stage.on(
      MACHINE,
      `curl -sm 2 ${url}; echo; curl -sm 2 http://${podIp}/hostname`,
    );
    stage.check('Service and pod answer, both', both === 'webapp-0\nwebapp-0');
    const explained = await stage.fairlead(MACHINE, 'explain default/webapp --from host');
    stage.check('`explain` proves it', explained.startsWith('REACHES'));
  },
};
