import { MACHINE } from '../../network/plan.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

const VIRTUAL = `${WEBAPP.clusterIp}:${WEBAPP.port}`;
const ASK_EIGHT = `for i in 1 2 3 4 5 6 7 8; do curl -sm 2 http://${WEBAPP.clusterIp}/hostname; echo; done`;

export const IPVS: Chapter = {
  name: 'ipvs',
  title: 'IPVS: a load balancer in the kernel',
  learn: 'Virtual servers, real servers and schedulers, by hand and by Fairlead.',
  repeats: ['cracking 6.2', 'cracking 6.3', 'model 6'],
  kernelParts: ['ipvs'],
  programs: ['ipvsadm'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [1, 1] });
    stage.say(`IPVS is a part of the kernel that was made for this: a virtual server is an address and a
      port, real servers are behind it, and a scheduler chooses. It finds a virtual server by hash, so
      the number of Services does not matter.`);
    await stage.on(MACHINE, 'sysctl -qw net.ipv4.vs.conntrack=1');
    await stage.on(MACHINE, `ipvsadm -A -t ${VIRTUAL} -s rr`);
    for (const { address } of pods) {
      await stage.on(MACHINE, `ipvsadm -a -t ${VIRTUAL} -r ${address.ipv4} -m`);
    }
    await stage.on(MACHINE, 'ipvsadm -ln');
    const asked = await stage.on(MACHINE, ASK_EIGHT);
    const answers = asked.trim().split('\n');
    const alternating = answers.every((name, index) => name !== answers[index - 1]);
    stage.check('rr is round robin: each answer differs from the one before', alternating);
    await stage.on(MACHINE, 'ipvsadm -C');
    stage.say(`Fairlead in ipvs mode, on the nodes of the cluster: virtual servers for every Service, and
      the scheduler by annotation, which kube-proxy does not have. \`sh\` chooses by the client's
      address:`);
    await lab.startProxies(findProxy('fairlead-ipvs'));
    await stage.kubectl('annotate service webapp fairlead.dev/ipvs-scheduler=sh');
    await stage.untilAnswers('node1', `ipvsadm -ln -t ${VIRTUAL} | grep ' sh'`);
    await stage.on('node1', `ipvsadm -ln -t ${VIRTUAL}`);
    const hashed = await stage.on('node1', ASK_EIGHT);
    stage.check(
      'all from one client went to one pod',
      new Set(hashed.trim().split('\n')).size === 1,
    );
    const explained = await stage.fairlead('node1', 'explain default/webapp --from host');
    stage.check('`explain` says what decides', explained.includes('sh'));
  },
};
