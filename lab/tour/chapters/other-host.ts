import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { runClientPod } from '../client-pod.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

export const OTHER_HOST: Chapter = {
  name: 'other-host',
  title: 'A pod on another host: after the translation comes the network',
  learn: 'What a tunnel adds to the packet once the proxy has chosen a pod on another node.',
  repeats: ['cracking 1.4', 'cracking 5.3'],
  programs: ['tcpdump'],
  network: 'vxlan',
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [2] });
    const pod = pods[0]?.address.ipv4 ?? '';
    const client = await runClientPod(lab, { nodeIndex: 1 });
    await lab.startProxies(findProxy('fairlead-nftables'));
    stage.say(`A pod on \`node1\` asks the Service, whose only pod is on \`node2\`. The proxy of \`node1\`
      chooses the pod and changes the destination; its part ends there. How the packet comes to
      \`node2\` is the network's: here a VXLAN device, as flannel or Calico may use it.`);
    await stage.on('node1', `ip route get ${pod}`);
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    const seen = await stage.tcpdump('node2', '-nni eth0 -c 2 -T vxlan udp port 8472', async () => {
      await stage.on(client.host, `curl -sm 2 ${url}`);
    });
    stage.say(`Each line has two packets: the outer one from node to node, UDP port 8472, and the inner
      one from pod to pod. The inner destination is the pod, not the ClusterIP: translation came first,
      encapsulation after it. On the way back it is the reverse.`);
    stage.check('the inner packet goes to the pod', seen.includes(`> ${pod}.80`));
    stage.check('from the address of the client pod, not of a node', seen.includes(client.address));
    stage.check('no packet on the wire has the ClusterIP', !seen.includes(WEBAPP.clusterIp));
    const inside = await stage.tcpdump(
      'default-webapp-0',
      '-nni eth0 -c 1 tcp port 80',
      async () => {
        await stage.on(client.host, `curl -sm 2 ${url}`);
      },
    );
    stage.check('the pod sees who asked', inside.includes(client.address));
    const explained = await stage.fairlead(
      'node1',
      'explain default/webapp --from pod:default/client',
    );
    stage.check(
      '`explain` follows it to the device of the tunnel',
      explained.startsWith('REACHES'),
    );
  },
};
