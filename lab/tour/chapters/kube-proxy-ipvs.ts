import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

export const KUBE_PROXY_IPVS: Chapter = {
  name: 'kube-proxy-ipvs',
  title: "kube-proxy's ipvs mode, with its ipsets",
  learn: 'What kube-ipvs0, KUBE-CLUSTER-IP and KUBE-LOOP-BACK are for, and who answers ping.',
  repeats: ['notes ipvs', 'cracking 2.2'],
  kernelParts: ['ipvs'],
  programs: ['ipvsadm', 'ipset', 'iptables', 'ping'],
  async play(stage) {
    const { lab } = stage;
    await startWebapp(lab, {
      nodes: [1, 2],
      spec: {
        type: 'NodePort',
        ports: [{ name: 'http', port: 80, targetPort: 'http', nodePort: 30180 }],
      },
    });
    const proxies = await lab.startProxies(findProxy('upstream-ipvs'));
    stage.say(`kube-proxy puts every ClusterIP on a device of the node, \`kube-ipvs0\`, so that packets for
      it are for the node and IPVS gets them:`);
    const device = await stage.on('node1', 'ip -oneline -4 address show kube-ipvs0', {
      keep: (line) => line.includes(WEBAPP.clusterIp),
    });
    stage.check('the ClusterIP is on kube-ipvs0', device.includes(WEBAPP.clusterIp));
    await stage.on('node1', `ipvsadm -ln -t ${WEBAPP.clusterIp}:80`);
    stage.say(`A device that has the address answers ping for it, and texts of 2019 show that: it is the
      node that answers, not a pod. It would answer on its own ports, too, such as SSH, at every
      ClusterIP. kube-proxy now has a chain against that, and an ipset with every address of the device:
      what is new and for no Service is rejected, ping included.`);
    await stage.on('node1', 'iptables -t filter -S KUBE-IPVS-FILTER', {
      keep: (line) => line.includes('KUBE-IPVS-IPS'),
    });
    await stage.on('node1', `ping -c 1 -W 1 ${WEBAPP.clusterIp}`, {
      exits: 1,
      shows: 'ping of the ClusterIP is rejected, by the address itself',
    });
    stage.say(`What IPVS cannot decide is left to a few iptables rules with ipsets: which packets to
      masquerade, which node ports exist. \`KUBE-LOOP-BACK\` holds every pair of a pod with itself, for
      the hairpin:`);
    await stage.on('node1', 'iptables -t nat -nL KUBE-SERVICES');
    const pairs = await stage.on('node1', 'ipset list KUBE-LOOP-BACK', { keep: isMember });
    stage.check('it has a pod twice, as destination and as source', /(\S+),tcp:80,\1/.test(pairs));
    await stage.on('node1', 'ipset list KUBE-CLUSTER-IP', { keep: isMember });
    const ports = await stage.on('node1', 'ipset list KUBE-NODE-PORT-TCP', { keep: isMember });
    stage.check('the node port is in KUBE-NODE-PORT-TCP', ports.includes('30180'));
    stage.say(`Fairlead in ipvs mode needs no device, no ipset and no address on the node: a mark and a
      routing rule lead packets to IPVS. Started in place of kube-proxy it [takes such a node
      over](../ipvs.md#take-over). Here it is started beside what a stopped kube-proxy has left:`);
    for (const proxy of proxies.values()) await proxy.stop();
    await lab.startProxies(findProxy('fairlead-ipvs'));
    const answer = await stage.on('node1', `curl -sm 2 http://${WEBAPP.clusterIp}/hostname`);
    stage.check('and the Service answers', answer.startsWith('webapp-'));
    const explained = await stage.fairlead('node1', 'explain default/webapp --from host');
    stage.check('`explain` proves it', explained.startsWith('REACHES'));
  },
};

function isMember(line: string): boolean {
  return line.startsWith('Name') || /^\d/.test(line);
}
