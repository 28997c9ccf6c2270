import { MACHINE } from '../../network/plan.ts';
import { startOutside } from '../../outside/start.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { compileCommand } from '../toys/compile.ts';
import { NO_ANSWER, startWebapp, WEBAPP } from '../webapp.ts';

export const SOCKET_EBPF: Chapter = {
  name: 'socket-ebpf',
  title: 'A program at connect(): socket eBPF',
  learn: 'How a Service is translated once for each connection, before there is a packet.',
  repeats: ['cracking 8.2', 'cracking 8.3', 'model 7'],
  kernelParts: ['btf'],
  programs: ['clang', 'bpftool', 'tcpdump'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [1] });
    await lab.makeSocketPlaces();
    const { cgroupPath = '', pinFolder = '' } = lab.socketPlace(MACHINE) ?? {};
    const podIp = pods[0]?.address.ipv4 ?? '';
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    stage.say(`Why change every packet if the kernel can change the address once? A program at the hook
      \`cgroup/connect4\` runs inside the system call connect() and may replace the address:
      [connect.bpf.c](../../lab/tour/toys/connect.bpf.c), three lines that do something. It acts on the
      sockets of a cgroup; here on those of \`machine\`.`);
    const { command, object } = compileCommand({
      name: 'connect',
      folder: lab.folder,
      clusterIp: WEBAPP.clusterIp,
      podIp,
    });
    const pin = `${pinFolder}-toy`;
    await stage.on(MACHINE, command);
    await stage.on(MACHINE, `bpftool prog load ${object} ${pin}`);
    await stage.on(MACHINE, `bpftool cgroup attach ${cgroupPath} connect4 pinned ${pin}`);
    const wire = await stage.tcpdump(MACHINE, '-nni eth0 -c 1 tcp', async () => {
      const answer = await stage.on(MACHINE, `curl -sm 2 ${url}`);
      stage.check('the ClusterIP answers', answer === 'webapp-0');
    });
    stage.check(
      'the first packet already has the address of the pod',
      wire.includes(`> ${podIp}.80`),
    );
    stage.say(`Even the program that connects sees the pod as its peer. A whole proxy turns that back:
      \`getpeername()\` should say what was asked for. Clean up, and start Fairlead in socket-ebpf mode:`);
    await stage.on(
      MACHINE,
      `bpftool cgroup detach ${cgroupPath} connect4 pinned ${pin}; rm ${pin}`,
    );
    await stage.on(MACHINE, `curl -sm 2 ${url}`, NO_ANSWER);
    await startOutside(lab, { variant: findProxy('fairlead-socket-ebpf') });
    await stage.on(MACHINE, `bpftool cgroup show ${cgroupPath}`);
    const peer = await stage.on(MACHINE, `curl -sm 2 -o /dev/null -w '%{remote_ip}' ${url}`);
    stage.check('curl sees the ClusterIP as its peer', peer === WEBAPP.clusterIp);
    const explained = await stage.fairlead(MACHINE, 'explain default/webapp --from host');
    stage.check('`explain` proves it', explained.startsWith('REACHES'));
  },
};
