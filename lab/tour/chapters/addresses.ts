import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { NO_ANSWER, startWebapp } from '../webapp.ts';

const NODE_PORT = 30180;
const EXTERNAL = '198.18.0.10';
const BALANCED = '198.18.0.20';

export const ADDRESSES: Chapter = {
  name: 'addresses',
  title: 'Node port, external address, load balancer',
  learn: 'The four kinds of addresses of a Service, each asked from outside the cluster.',
  repeats: ['cracking 2.1', 'lesson node port', 'notes iptables'],
  async play(stage) {
    const { lab } = stage;
    await startWebapp(lab, {
      nodes: [1, 2],
      spec: {
        type: 'LoadBalancer',
        externalIPs: [EXTERNAL],
        ports: [{ name: 'http', port: 80, targetPort: 'http', nodePort: NODE_PORT }],
      },
    });
    await lab.startProxies(findProxy('fairlead-nftables'));
    stage.say(`One Service of type LoadBalancer has them all: a ClusterIP for the inside, a port on every
      node, and addresses that somebody else leads to the nodes. In a cloud a controller writes the
      address of its load balancer into the status; here we do.`);
    await stage.kubectl(
      `patch service webapp --subresource=status --type=merge -p {"status":{"loadBalancer":{"ingress":[{"ip":"${BALANCED}"}]}}}`,
    );
    await stage.kubectl('get service webapp');
    stage.say(`\`client\` is outside, without a route to pods. Its address 172.30.2.1 goes through
      \`node1\`, so \`node1\` is what a load balancer would have chosen.`);
    const asks = [
      ['a node port, on either node', `172.30.1.1:${NODE_PORT}`],
      ['a node port, on either node', `172.30.1.2:${NODE_PORT}`],
      ['an external address', EXTERNAL],
    ] as const;
    for (const [what, to] of asks) {
      const answer = await stage.on('client', ask(to));
      stage.check(`${what}: ${to} answers`, answer.startsWith('webapp-'));
    }
    await stage.untilAnswers('client', ask(BALANCED));
    const balanced = await stage.on('client', ask(BALANCED));
    stage.check(`the load balancer's address ${BALANCED} answers`, balanced.startsWith('webapp-'));
    stage.say(`Packets for ${BALANCED} reach \`node1\` although no interface of it has the address; the
      proxy of the node answers for it. The ClusterIP is for the inside: from outside nobody leads it
      to a node.`);
    await stage.on('client', 'curl -sm 2 http://10.96.111.132/hostname', NO_ANSWER);
    stage.say('What `node1` does with each of them, and for whom:');
    await stage.fairlead('node1', 'services default/webapp');
    const explained = await stage.fairlead('node1', `explain ${BALANCED}:80 --from 172.30.2.1`);
    stage.check(
      '`explain` knows the address of the load balancer',
      explained.startsWith('REACHES'),
    );
  },
};

function ask(to: string): string {
  return `curl -sm 2 --interface 172.30.2.1 http://${to}/hostname`;
}
