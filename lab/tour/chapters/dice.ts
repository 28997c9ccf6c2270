import { MACHINE } from '../../network/plan.ts';
import { startOutside } from '../../outside/start.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter, Stage } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

const SERVICE = `-p tcp -d ${WEBAPP.clusterIp} --dport ${WEBAPP.port}`;
const DICE = '-m statistic --mode random --probability';
const ASKED = 120;

export const DICE_CHAPTER: Chapter = {
  name: 'dice',
  title: 'Several pods: rules with dice',
  learn: 'Why two pods need a probability of 1/2 and three need 1/3 and 1/2, and how even it gets.',
  repeats: ['cracking 5.2', 'model 5', 'notes iptables'],
  programs: ['iptables'],
  async play(stage) {
    const { lab } = stage;
    const webapp = await startWebapp(lab, { nodes: [1, 2] });
    const [first = '', second = ''] = webapp.pods.map(({ address }) => address.ipv4);
    const add = (more: string, pod: string): Promise<string> =>
      stage.on(
        MACHINE,
        `iptables -t nat -A OUTPUT ${SERVICE} ${more}-j DNAT --to-destination ${pod}:80`,
      );
    stage.say(`Rules are asked in order, and the first that matches decides. So with two pods the
      first rule must let half of the connections pass, and the second takes what is left.`);
    await add(`${DICE} 0.5 `, first);
    await add('', second);
    await assertEven(stage, 2);
    stage.say(`A third pod, as \`kubectl scale\` would make it. The rule in front now takes 1/3. Of the
      rest, the second takes 1/2, which is 1/3 of all. The last takes every connection that reaches it.
      A rule with the probability 1.0, as texts have it, would do the same.`);
    const third = (await webapp.grow()).address.ipv4;
    await stage.on(MACHINE, 'iptables -t nat -F OUTPUT');
    await add(`${DICE} 0.33333 `, first);
    await add(`${DICE} 0.5 `, second);
    await add('', third);
    await assertEven(stage, 3);
    await stage.on(MACHINE, 'iptables -t nat -F OUTPUT');
    stage.say(`With 1,000 endpoints a connection would ask 500 rules on average. Fairlead in nftables
      mode throws one die for all of them: a number, and a map from numbers to endpoints.`);
    await startOutside(lab, { variant: findProxy('fairlead-nftables') });
    await assertEven(stage, 3);
    const explained = await stage.fairlead(MACHINE, 'explain default/webapp --from host');
    stage.check('`explain` gives each endpoint its share', explained.includes('1 of 3'));
  },
};

/** Four standard deviations of a fair share: one run in some ten thousand fails by chance. */
async function assertEven(stage: Stage, pods: number): Promise<void> {
  const url = `http://${WEBAPP.clusterIp}/hostname`;
  const asked = await stage.on(
    MACHINE,
    `for i in $(seq ${ASKED}); do curl -sm 2 ${url}; echo; done | sort | uniq -c`,
  );
  const counts = asked
    .trimEnd()
    .split('\n')
    .map((line) => Number.parseInt(line, 10));
  const fair = ASKED / pods;
  const spread = 4 * Math.sqrt(fair * (1 - 1 / pods));
  const even = counts.length === pods && counts.every((count) => Math.abs(count - fair) <= spread);
  stage.check(
    `each of ${pods} pods got about ${fair} of ${ASKED} connections (${counts.join(', ')})`,
    even,
  );
}
