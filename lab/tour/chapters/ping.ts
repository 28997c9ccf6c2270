import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

export const PING: Chapter = {
  name: 'ping',
  title: 'Ping of a ClusterIP',
  learn: 'Why ping says nothing about a Service, and what each way answers.',
  repeats: ['cracking 2.2'],
  programs: ['ping', 'iptables'],
  async play(stage) {
    const { lab } = stage;
    await startWebapp(lab, { nodes: [1] });
    stage.say(`A Service is an address, a protocol and a port. Ping has no port, so no rule of a Service is
      for it. What happens to it is up to the way that the proxy works. First kube-proxy in iptables
      mode:`);
    const upstream = await lab.startProxies(findProxy('upstream-iptables'));
    const ping = `ping -c 1 -W 1 ${WEBAPP.clusterIp}`;
    await stage.on('node1', ping, { exits: 1 });
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    const answer = await stage.on('node1', `curl -sm 2 ${url}`);
    stage.check('no answer to ping, though the Service answers', answer === 'webapp-0');
    for (const proxy of upstream.values()) await proxy.stop();
    stage.say(`The packet was sent to the router, which does not know the address. Fairlead in nftables
      mode, like kube-proxy in nftables mode, answers instead of leading it astray: a ClusterIP that has
      no such port is refused.`);
    await lab.startProxies(findProxy('fairlead-nftables'));
    const refused = await stage.on('node1', ping, { exits: 1 });
    stage.check('ping is told that nobody is there', /unreachable|errors/i.test(refused));
    stage.say(`Older texts say that ping is answered in kube-proxy's ipvs mode. The ClusterIP is on an
      interface of the node there, so the node answered, also if every pod was dead. Today kube-proxy
      rejects it there, too: see the chapter [kube-proxy-ipvs](kube-proxy-ipvs.md).`);
    const explained = await stage.fairlead('node1', 'explain default/webapp --from host');
    stage.check('ask with `explain` instead', explained.startsWith('REACHES'));
  },
};
