import { MACHINE } from '../../network/plan.ts';
import { startOutside } from '../../outside/start.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { NO_ANSWER, startWebapp, WEBAPP } from '../webapp.ts';

const SERVICE = `-p tcp -d ${WEBAPP.clusterIp} --dport ${WEBAPP.port}`;

export const ONE_RULE: Chapter = {
  name: 'one-rule',
  title: 'One rule: DNAT and its way back',
  learn: 'How the kernel changes a destination address, and who changes the answers back.',
  repeats: ['cracking 5.1', 'model 5'],
  programs: ['iptables', 'conntrack'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [1] });
    const pod = pods[0]?.address.ipv4 ?? '';
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    const rule = `OUTPUT ${SERVICE} -j DNAT --to-destination ${pod}:${WEBAPP.port}`;
    stage.say(`A packet that a local process sends passes the hook \`OUTPUT\`, and there the table
      \`nat\` may change its destination. The kernel asks that table for the first packet of a
      connection only.`);
    await stage.on(MACHINE, `curl -sm 2 ${url}`, NO_ANSWER);
    await stage.on(MACHINE, `iptables -t nat -A ${rule}`);
    const answer = await stage.on(MACHINE, `curl -sm 2 ${url}`);
    stage.check('with one rule the ClusterIP answers', answer === 'webapp-0');
    stage.say(`The rule changes packets in one direction. Yet curl accepted the answer, although the
      pod sent it from its own address. Connection tracking did that: it noted the connection as the
      client sees it, and how the answers will look, and changes them back.`);
    const entry = await stage.on(MACHINE, `conntrack -L -p tcp --orig-dst ${WEBAPP.clusterIp}`, {
      keep: (line) => !line.startsWith('conntrack v'),
    });
    stage.say(`Read the entry in two halves. First \`src=… dst=${WEBAPP.clusterIp}\`, the request as
      curl sent it. Then \`src=${pod}\`, the answer as it arrives. The difference is the translation.`);
    stage.check(
      'the entry has the ClusterIP in its first half',
      entry.includes(`dst=${WEBAPP.clusterIp}`),
    );
    stage.check('and the pod as the source of the answers', entry.includes(`src=${pod} `));
    const counted = await stage.on(MACHINE, 'iptables -t nat -vnL OUTPUT');
    stage.check(
      'the rule saw one packet of the connection, not all',
      /\n\s*1\s+60\s+DNAT/.test(counted),
    );
    stage.say(
      'Clean up. Every entry that the rule made lives on in conntrack until it is deleted, too.',
    );
    await stage.on(MACHINE, `iptables -t nat -D ${rule}`);
    await stage.on(MACHINE, `conntrack -D -p tcp --orig-dst ${WEBAPP.clusterIp} >/dev/null 2>&1`);
    stage.say(`Fairlead in nftables mode does the same with a map instead of a rule for each Service;
      \`render\` says what it wrote for this one, in words.`);
    await startOutside(lab, { variant: findProxy('fairlead-nftables') });
    await stage.on(MACHINE, `curl -sm 2 ${url}`);
    const explained = await stage.fairlead(MACHINE, 'explain default/webapp --from host');
    stage.check('`explain` shows the steps of the packet', explained.startsWith('REACHES'));
  },
};
