import { MACHINE } from '../../network/plan.ts';
import { startOutside } from '../../outside/start.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

const PODS = 'get pods -o custom-columns=NAME:.metadata.name,IP:.status.podIP,NODE:.spec.nodeName';

export const DEAD_ADDRESS: Chapter = {
  name: 'dead-address',
  title: 'The address that nobody has',
  learn: 'Why a pod answers and its ClusterIP does not, and what a node proxy adds.',
  repeats: ['cracking 2.2', 'cracking 3.2', 'cracking 3.3', 'model 3', 'lesson services'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [1] });
    const pod = pods[0]?.address.ipv4 ?? '';
    stage.say(`A Service \`webapp\` with one pod. The API server gave it an address, the ClusterIP, and
      a controller wrote the pod's address into an EndpointSlice. That is all that happened: objects.`);
    await stage.kubectl('get service webapp');
    await stage.kubectl(PODS);
    await stage.kubectl('get endpointslices');
    stage.say(`\`machine\` is a host beside the cluster. It has a route to the pods, and no node proxy.
      Ask the pod, then the ClusterIP:`);
    const direct = await stage.on(MACHINE, `curl -s http://${pod}/hostname`);
    stage.check('the pod answers', direct === 'webapp-0');
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    await stage.on(MACHINE, `curl -sm 2 ${url}`, {
      exits: 28,
      shows: 'curl gave up after two seconds without an answer (exit code 28)',
    });
    stage.say(`No host has that address on an interface. The kernel sends the packet to the default
      router, as it does with every address that it does not know, and there it ends.`);
    await stage.on(MACHINE, `ip route get ${WEBAPP.clusterIp}`);
    const holders = await stage.on('node1', `ip -oneline address | grep -c '${WEBAPP.clusterIp}'`, {
      exits: 1,
    });
    stage.check('the node of the pod does not have the address either', holders.trim() === '0');
    stage.say(`What is missing is a program on \`machine\` that watches Services and EndpointSlices and
      makes the kernel translate the address: a node proxy. Start one, and ask again.`);
    await startOutside(lab, { variant: findProxy('fairlead-nftables') });
    const answer = await stage.on(MACHINE, `curl -sm 2 ${url}`);
    stage.check('the ClusterIP answers, on a machine that is no node', answer === 'webapp-0');
    stage.say(`Only the port of the Service is translated: another port of the same address has nobody
      behind it, and a proxy says so at once.`);
    await stage.on(MACHINE, `curl -sm 2 http://${WEBAPP.clusterIp}:81/`, {
      exits: 7,
      shows: 'port 81 is refused (exit code 7), not ignored',
    });
    const explained = await stage.fairlead(MACHINE, 'explain default/webapp --from host');
    stage.check('`explain` predicts it and proves it', explained.startsWith('REACHES'));
  },
};
