import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

export const CLEAN_UP: Chapter = {
  name: 'clean-up',
  title: 'Clean up',
  learn: 'What a proxy leaves in the kernel when it ends, and how to remove all of it.',
  repeats: ['cracking 2.4', 'cracking 4.3', 'cracking 6.3'],
  programs: ['iptables'],
  async play(stage) {
    const { lab } = stage;
    await startWebapp(lab, { nodes: [1] });
    const empty = await stage.on('node1', 'nft list tables');
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    const agents = await lab.startProxies(findProxy('fairlead-nftables'));
    stage.say(`Rules are the kernel's: when the process that wrote them ends, they stay, and Services go on
      working. That is wanted: an upgrade should interrupt nothing. Every node has the rules of every
      Service, since nobody knows which one a pod will ask next.`);
    await stage.on('node1', 'nft list tables');
    for (const agent of agents.values()) await agent.stop();
    const answer = await stage.on('node1', `curl -sm 2 ${url}`);
    stage.check('the Service answers without a proxy process', answer === 'webapp-0');
    stage.say("`cleanup` removes what is Fairlead's, and says what that was:");
    await stage.fairlead('node1', 'cleanup');
    const after = await stage.on('node1', 'nft list tables');
    stage.check('the kernel is as it was before', after === empty);
    await stage.on('node1', `curl -sm 2 ${url}`, {
      exits: 28,
      shows: 'the address is dead again',
    });
    stage.say(`Without an agent \`explain\` still predicts, from the objects of the cluster: what this node
      would do if it had a proxy.`);
    const explained = await stage.fairlead(
      'node1',
      'explain default/webapp --node node1 --from host',
    );
    stage.check('and it says that nothing is proven', explained.includes('not proven'));
  },
};
