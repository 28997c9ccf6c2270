import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { startWebapp, WEBAPP } from '../webapp.ts';

const NODE_PORT = 30180;
const CLIENT = '172.30.2.1';
const ASK = `curl -sm 2 --interface ${CLIENT}`;

export const SOURCE_ADDRESS: Chapter = {
  name: 'source-address',
  title: 'Who asks? Masquerade, Local, hairpin',
  learn: 'When a pod sees its client, when it sees a node instead, and why.',
  repeats: ['notes source IP', 'clusterip rules'],
  async play(stage) {
    const { lab } = stage;
    await startWebapp(lab, {
      nodes: [2],
      spec: {
        type: 'NodePort',
        ports: [{ name: 'http', port: 80, targetPort: 'http', nodePort: NODE_PORT }],
      },
    });
    await lab.startProxies(findProxy('fairlead-nftables'));
    stage.say(`The only pod is on \`node2\`; \`/clientip\` answers with the address that it sees. A client
      asks the node port of \`node1\`:`);
    const masqueraded = await stage.on('client', `${ASK} http://172.30.1.1:${NODE_PORT}/clientip`);
    stage.check('the pod sees node1, not the client', masqueraded.startsWith('172.30.1.1:'));
    stage.say(`That is masquerade. If the pod saw the client, it would answer the client directly, from its
      own address, and the client would not know that address. So \`node1\` puts its own in, and the
      answer comes back to where it can be translated.

      With \`externalTrafficPolicy: Local\` a node uses only its own pods. Then answers pass it anyway,
      and the client's address can stay. A node without a pod does not serve at all:`);
    await stage.kubectl('patch service webapp -p {"spec":{"externalTrafficPolicy":"Local"}}');
    await stage.untilAnswers(
      'client',
      `${ASK} http://172.30.1.2:${NODE_PORT}/clientip | grep ${CLIENT}`,
    );
    const kept = await stage.on('client', `${ASK} http://172.30.1.2:${NODE_PORT}/clientip`);
    stage.check("with Local the pod sees the client's own address", kept.startsWith(`${CLIENT}:`));
    await stage.on('client', `${ASK} http://172.30.1.1:${NODE_PORT}/clientip`, {
      exits: 28,
      shows: 'node1 has no pod of the Service: its node port is silent',
    });
    await stage.fairlead('node1', `explain 172.30.1.1:${NODE_PORT} --from ${CLIENT} --probe none`, {
      exits: 3,
    });
    stage.say(`The third case is a pod that asks its own Service and is chosen itself. Source and
      destination would be the same address, and the answer would never leave the pod. That is a hairpin:
      here, too, the node puts an address of its own in.`);
    const hairpin = await stage.on(
      'default-webapp-0',
      `curl -sm 2 http://${WEBAPP.clusterIp}/clientip`,
    );
    const pod = '10.130.0.2';
    stage.check(
      'the pod reaches itself, and sees an address of its node',
      !hairpin.startsWith(pod),
    );
    const explained = await stage.fairlead(
      'node2',
      'explain default/webapp --from pod:default/webapp-0',
    );
    stage.check('`explain` says that it is masqueraded', explained.includes('masquerade'));
  },
};
