import { MACHINE } from '../../network/plan.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter, Stage } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

export const CHAINS: Chapter = {
  name: 'chains',
  title: 'KUBE-SERVICES, KUBE-SVC, KUBE-SEP',
  learn:
    'How kube-proxy orders its rules, how to follow a packet through them, and what has changed.',
  repeats: [
    'cracking 5.4',
    'model 5',
    'notes iptables',
    'clusterip rules',
    'lesson cluster IP',
    'lesson node port',
  ],
  programs: ['iptables'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, {
      nodes: [1, 2],
      spec: {
        type: 'NodePort',
        ports: [{ name: 'http', port: 80, targetPort: 'http', nodePort: 30180 }],
      },
    });
    await byHand(
      stage,
      pods.map(({ address }) => address.ipv4),
    );
    stage.say(`Now the real one: kube-proxy in iptables mode on the nodes. Three connections from
      \`node1\`, then its chains with the counters (\`-v\`). First the Service:`);
    const upstream = await lab.startProxies(findProxy('upstream-iptables'));
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    await stage.on('node1', `for i in 1 2 3; do curl -sm 2 ${url}; echo; done`);
    const services = await stage.on('node1', 'iptables -t nat -vnL KUBE-SERVICES', {
      keep: aboutWebapp,
    });
    const svc = nameOf(services, /KUBE-SVC-\w+(?=.*webapp)/);
    stage.say('Then the chain of the Service: one rule for each endpoint, with a probability.');
    const ofService = await stage.on('node1', `iptables -t nat -vnL ${svc}`);
    stage.check('the first of two has the probability 1/2', ofService.includes('probability 0.5'));
    const sep = nameOf(ofService, /KUBE-SEP-\w+/);
    stage.say('Then the chain of an endpoint, where the destination is changed:');
    const ofEndpoint = await stage.on('node1', `iptables -t nat -vnL ${sep}`);
    stage.check('it ends in DNAT to a pod', /DNAT.*to:10\.1(29|30)\.0\.\d+:80/.test(ofEndpoint));
    stage.say(`The node port is in a chain of its own, for packets to an address of the node. It leads to
      \`KUBE-EXT\`, which older texts do not have: what comes from outside is masqueraded there, then it
      goes the way of the Service.`);
    await stage.on('client', 'curl -sm 2 http://172.30.1.1:30180/hostname');
    const nodePorts = await stage.on('node1', 'iptables -t nat -vnL KUBE-NODEPORTS');
    const ext = nameOf(nodePorts, /KUBE-EXT-\w+/);
    await stage.on('node1', `iptables -t nat -vnL ${ext}`);
    stage.say(`Also gone since those texts were written: \`KUBE-MARK-DROP\`, which marked packets for a
      chain of the kubelet. What is to be dropped is now dropped in \`KUBE-PROXY-FIREWALL\`.`);
    await stage.on('node1', 'iptables -t nat -nL KUBE-MARK-DROP', {
      exits: 1,
      shows: 'there is no chain KUBE-MARK-DROP',
    });
    stage.say(`Fairlead in iptables mode writes the same rules, so everything above reads the same; and
      it can follow the chains for you.`);
    for (const proxy of upstream.values()) await proxy.stop();
    await lab.startProxies(findProxy('fairlead-iptables'));
    const explained = await stage.fairlead('node1', 'explain default/webapp --from host');
    stage.check('`explain` names the chains of the packet', explained.includes('KUBE-SEP'));
  },
};

/** The three chains of the texts, made with iptables on the machine. */
async function byHand(stage: Stage, pods: readonly string[]): Promise<void> {
  const [first = '', second = ''] = pods;
  stage.say(`With thousands of Services one chain of rules would be too long to ask for every packet. So
    kube-proxy makes three kinds of chains: one that finds the Service, one for each Service that
    chooses, one for each endpoint that translates. By hand, on \`machine\`:`);
  const dnat = (pod: string): string => `-p tcp -j DNAT --to-destination ${pod}:80`;
  const rules = [
    ...['KUBE-SERVICES', 'KUBE-SVC-WEBAPP', 'KUBE-SEP-WEBAPP1', 'KUBE-SEP-WEBAPP2'].map(
      (chain) => `-N ${chain}`,
    ),
    '-A OUTPUT -j KUBE-SERVICES',
    `-A KUBE-SERVICES -p tcp -d ${WEBAPP.clusterIp} --dport 80 -j KUBE-SVC-WEBAPP`,
    '-A KUBE-SVC-WEBAPP -m statistic --mode random --probability 0.5 -j KUBE-SEP-WEBAPP1',
    '-A KUBE-SVC-WEBAPP -j KUBE-SEP-WEBAPP2',
    `-A KUBE-SEP-WEBAPP1 ${dnat(first)}`,
    `-A KUBE-SEP-WEBAPP2 ${dnat(second)}`,
  ];
  for (const rule of rules) await stage.on(MACHINE, `iptables -t nat ${rule}`);
  const answer = await stage.on(MACHINE, `curl -sm 2 http://${WEBAPP.clusterIp}/hostname`);
  stage.check('the ClusterIP answers through three chains', /^webapp-[01]$/.test(answer));
  await stage.on(MACHINE, 'iptables -t nat -F && iptables -t nat -X');
}

function aboutWebapp(line: string): boolean {
  return line.includes('webapp') || line.includes('target') || line.includes('NODEPORTS');
}

function nameOf(output: string, pattern: RegExp): string {
  return pattern.exec(output)?.[0] ?? 'NO-SUCH-CHAIN';
}
