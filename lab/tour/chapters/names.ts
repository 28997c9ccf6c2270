import type { Service } from '../../api/objects.ts';
import { paths } from '../../api/objects.ts';
import type { Lab } from '../../lab.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { runClientPod } from '../client-pod.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

const DNS = '10.96.0.10';
const NAME = 'webapp.default.svc.cluster.local';

export const NAMES: Chapter = {
  name: 'names',
  title: 'By name: DNS is a Service, too',
  learn: 'How a name becomes a ClusterIP and a ClusterIP a pod, and that both need the proxy.',
  repeats: ['clusterip connect'],
  programs: ['dig'],
  async play(stage) {
    const { lab } = stage;
    await startWebapp(lab, { nodes: [2] });
    await startDns(lab);
    const client = await runClientPod(lab, { nodeIndex: 1 });
    await lab.startProxies(findProxy('fairlead-nftables'));
    stage.say(`A pod asks the DNS server of the cluster, CoreDNS, which has a ClusterIP like every other
      Service: the question itself goes through the proxy.`);
    await stage.untilAnswers(client.host, `dig +short +time=2 @${DNS} ${NAME} | grep .`);
    const address = await stage.on(client.host, `dig +short @${DNS} ${NAME}`);
    stage.check('the name is the ClusterIP', address.trim() === WEBAPP.clusterIp);
    const answer = await stage.on(
      client.host,
      `curl -sm 2 http://$(dig +short @${DNS} ${NAME})/hostname`,
    );
    stage.check('and the ClusterIP leads to the pod', answer === 'webapp-0');
    stage.say(`Two translations for one request: UDP to CoreDNS, TCP to the pod. When a name "does not
      work", it is worth knowing which of the two is broken:`);
    await stage.fairlead('node1', `explain ${DNS}:53/udp --from pod:default/client`);
    const explained = await stage.fairlead(
      'node1',
      'explain default/webapp --from pod:default/client',
    );
    stage.check('both reach their endpoints', explained.startsWith('REACHES'));
  },
};

async function startDns(lab: Lab): Promise<void> {
  await lab.pods.run({
    namespace: 'kube-system',
    name: 'coredns',
    nodeIndex: 1,
    labels: { 'k8s-app': 'kube-dns' },
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    ],
    ready: true,
    hostNetwork: true,
    server: 'coredns',
  });
  await lab.api.create<Service>(paths.services('kube-system'), {
    metadata: { name: 'kube-dns' },
    spec: {
      clusterIP: DNS,
      selector: { 'k8s-app': 'kube-dns' },
      ports: [
        { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, targetPort: 'dns-tcp', protocol: 'TCP' },
      ],
    },
  });
}
