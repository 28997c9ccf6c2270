import { once } from 'node:events';
import { join } from 'node:path';
import { startDaemon } from '../../host/processes.ts';
import { dialTcp } from '../../host/sockets.ts';
import { until } from '../../host/until.ts';
import { MACHINE } from '../../network/plan.ts';
import { startOutside } from '../../outside/start.ts';
import { findProxy } from '../../proxies/registry.ts';
import type { Chapter } from '../chapter.ts';
import { listensOn, readLog } from '../look.ts';
import { NO_ANSWER, startWebapp, WEBAPP } from '../webapp.ts';

const TOY = join(import.meta.dirname, '../toys/middleman.ts');
const TOY_PORT = 8080;
const DEADLINE_MS = 10_000;
const SERVICE_ADDRESS = { address: WEBAPP.clusterIp, port: WEBAPP.port };
const SERVICE = `${WEBAPP.clusterIp} --dport ${WEBAPP.port}`;
const REDIRECT = `OUTPUT -p tcp -d ${SERVICE} -j REDIRECT --to-port ${TOY_PORT}`;

export const MIDDLEMAN: Chapter = {
  name: 'middleman',
  title: 'A process in the middle: the userspace way',
  learn: 'How one connection becomes two, with four addresses, and what that costs and gives.',
  repeats: ['cracking 4.2', 'cracking 4.3', 'model 4', 'notes userspace'],
  programs: ['iptables', 'conntrack'],
  async play(stage) {
    const { lab } = stage;
    const { pods } = await startWebapp(lab, { nodes: [1] });
    const pod = pods[0]?.address.ipv4 ?? '';
    const url = `http://${WEBAPP.clusterIp}/hostname`;
    stage.say(`The oldest way needs one rule and one program. A program on \`machine\` listens on port
      ${TOY_PORT} and opens a connection to the pod for each that it accepts
      ([lab/tour/toys/middleman.ts](../../lab/tour/toys/middleman.ts), 20 lines):`);
    const toy = startDaemon({
      name: 'middleman',
      namespacePath: lab.namespacePath(MACHINE),
      argv: [process.execPath, TOY, `${TOY_PORT}`, pod, `${WEBAPP.port}`],
      logFile: join(lab.folder, 'logs', 'middleman.log'),
    });
    const listening = { what: 'the middleman to listen', deadlineMs: DEADLINE_MS };
    await until(() => listensOn(lab.namespacePath(MACHINE), TOY_PORT), listening);
    await stage.on(MACHINE, `ss -Hltn sport = :${TOY_PORT}`);
    stage.say(`It cannot listen on the ClusterIP, which no interface has. So a rule sends what a local
      process sends there to the program instead:`);
    await stage.on(MACHINE, `iptables -t nat -A ${REDIRECT}`);
    const answer = await stage.on(MACHINE, `curl -sm 2 ${url}`);
    stage.check('the ClusterIP answers', answer === 'webapp-0');
    const lines = await until(() => readLog(toy.logFile), { ...listening, what: 'its log' });
    stage.say(`The program saw this, client to itself and itself to the pod:

      \`${lines.trim()}\``);
    stage.check('the pod was asked by the program, not by curl', lines.includes(`-> ${pod}:80`));
    stage.say('Clean up: the rule by its words, the entries of conntrack, the program.');
    await stage.on(MACHINE, `iptables -t nat -D ${REDIRECT}`);
    await stage.on(MACHINE, `conntrack -D -p tcp --orig-dst ${WEBAPP.clusterIp} >/dev/null 2>&1`);
    await toy.stop();
    await stage.on(MACHINE, `curl -sm 2 ${url}`, NO_ANSWER);
    stage.say(`Fairlead's userspace mode is this idea made whole: one socket for all Services, both
      families, the client's address kept where it can be, another endpoint when the first does not
      answer. It says which two connections belong together:`);
    await startOutside(lab, { variant: findProxy('fairlead-userspace') });
    const open = dialTcp({ namespace: lab.namespacePath(MACHINE) }, SERVICE_ADDRESS);
    await once(open, 'connect', { signal: AbortSignal.timeout(DEADLINE_MS) });
    const status = await stage.fairlead(MACHINE, 'status --connections');
    open.destroy();
    stage.check('`status` names the ClusterIP and the pod', status.includes(`${pod}:80`));
    const explained = await stage.fairlead(MACHINE, 'explain default/webapp --from host');
    stage.check('`explain` proves it', explained.startsWith('REACHES'));
  },
};
