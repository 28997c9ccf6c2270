import type { Acts, RealChapter } from '../chapter.ts';
import { WEBAPP } from '../webapp.ts';

const NODE = 'node1';
const URL = `http://${WEBAPP.clusterIp}/hostname`;
const ASKED = 60;
const IN_AGENT = '-n kube-system exec ds/fairlead -- fairlead';

export const SCALE: RealChapter = {
  name: 'scale',
  title: 'From `kubectl scale` to the kernel',
  learn:
    'Who tells whom between a number that you type and a packet that reaches the new pod, and how long each takes.',
  repeats: ['cracking 3.2', 'cracking 5.2', 'model 3', 'lesson services'],
  realProxy: 'fairlead-nftables',
  async play(stage) {
    stage.say(`This cluster has real nodes: a kubelet, containerd and a scheduler, and Fairlead as a
      DaemonSet. The application is the one of the texts: a StatefulSet whose pods answer with their
      name, and a Service.`);
    await stage.kubectl('apply -f lab/tour/webapp.yaml');
    await stage.kubectl('rollout status statefulset/webapp --timeout=50s', { keep: isLastStep });
    await stage.kubectl('get pods -l app=webapp');
    await untilNames(stage, 1);
    const first = await stage.on(NODE, `curl -sm 2 ${URL}`);
    stage.check('the ClusterIP answers, and the only pod does', first === 'webapp-0');

    stage.say('Three pods instead of one. You change a number in an object, and nothing else.');
    await stage.kubectl('scale sts webapp --replicas=3');
    await stage.kubectl('rollout status statefulset/webapp --timeout=50s', { keep: isLastStep });
    await untilNames(stage, 3);
    await stage.kubectl('get endpointslices -l kubernetes.io/service-name=webapp');
    const names = await stage.on(
      NODE,
      `for i in $(seq ${ASKED}); do curl -sm 2 ${URL}; echo; done | sort | uniq -c`,
    );
    stage.check('all three answer', names.trimEnd().split('\n').length === 3);
    stage.say(`The StatefulSet's controller made pods, the scheduler gave them nodes, kubelets started
      them and found them ready, the EndpointSlice controller wrote their addresses, and only then did
      Fairlead hear of them. It remembers each step that it saw: who wrote the slice, and how long the
      kernel took to have it.`);
    const history = await stage.kubectl(`${IN_AGENT} history default/webapp`);
    stage.check('the history names the writer', history.includes('kube-controller-manager'));

    stage.say('And back to one.');
    await stage.kubectl('scale sts webapp --replicas=1');
    await stage.kubectl('wait --for=delete pod/webapp-1 pod/webapp-2 --timeout=50s');
    await untilNames(stage, 1);
    const left = await stage.kubectl(`${IN_AGENT} history default/webapp --limit 2`);
    stage.check('it says which endpoints left', / left/.test(left));
    const explained = await stage.kubectl(
      `${IN_AGENT} explain default/webapp --from host --probe connect`,
    );
    stage.check(
      '`explain` sends every connection to the pod that is left',
      /1 of 1/.test(explained),
    );
  },
};

/** A proxy is told last: the pods are ready a moment before this node knows. */
async function untilNames(stage: Acts, count: number): Promise<void> {
  const names = `for i in $(seq ${ASKED}); do curl -sm 1 ${URL}; echo; done | sort -u | wc -l`;
  await stage.untilAnswers(NODE, `test "$(${names})" = ${count}`);
}

/** Each line before it tells of a pod that is not ready yet; how many there are depends on the moment. */
function isLastStep(line: string): boolean {
  return line.includes('complete') || line.includes('error');
}
