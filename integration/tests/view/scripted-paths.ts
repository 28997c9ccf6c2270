import type { ProofStep } from '../../../src/explain/proof/proof.ts';
import type { PathAnswer } from '../../../src/wings/view/protocol/path-answer.ts';

const CLIENT = '10.1.0.1:42449';
const FRONTEND = '10.96.0.10:80';
const ENDPOINT = '10.1.0.2:8080';

const asked = { source: CLIENT, destination: FRONTEND };
const translated = { source: CLIENT, destination: ENDPOINT };
const ours = { table: 'ip fairlead', ours: true } as const;

const DROPPED_SYN = {
  protocol: 6,
  source: '172.31.1.5',
  sourcePort: 45_343,
  destination: '10.96.0.10',
  destinationPort: 80,
};

const TRANSLATION: readonly ProofStep[] = [
  {
    ...ours,
    hook: 'prerouting',
    chain: 'dispatch',
    handle: 72,
    does: 'looks up the class of its address and port (@frontends, @groups), and goes on in the chain that @class-chains names for it',
    verdict: 'goto',
    target: 'cluster/4',
    packet: asked,
  },
  {
    ...ours,
    hook: 'prerouting',
    chain: 'cluster/4',
    handle: 155,
    does: 'goes on in chain pick/4',
    verdict: 'goto',
    target: 'pick/4',
    packet: asked,
  },
  {
    ...ours,
    hook: 'prerouting',
    chain: 'pick/4',
    handle: 100,
    does: 'sends it to the endpoint in a slot drawn at random from 0 to 3 of its list (@slots)',
    verdict: 'accept',
    packet: asked,
  },
];

const BASE = {
  node: 'node1',
  mode: 'nftables',
  question: {
    target: 'shop/web',
    service: 'shop/web:http',
    kind: 'cluster-ip',
    frontend: FRONTEND,
    protocol: 'TCP',
    from: {
      class: 'pod',
      because: '10.1.0.1 is in 10.1.0.0/16, the range of pods',
      address: '10.1.0.1',
      pod: 'shop/cart-6f4d',
    },
  },
  predicted: {
    code: 'WOULD_REACH',
    action: 'forward',
    list: 'cluster',
    masquerade: false,
    endpoints: [ENDPOINT, '10.1.3.17:8080', '10.1.5.9:8080', '10.1.8.31:8080'],
  },
  candidates: [
    {
      endpoint: ENDPOINT,
      nodeName: 'node1',
      local: true,
      state: 'ready',
      selected: true,
      oneOf: 4,
    },
    {
      endpoint: '10.1.3.17:8080',
      nodeName: 'node2',
      local: false,
      state: 'ready',
      selected: true,
      oneOf: 4,
    },
    {
      endpoint: '10.1.5.9:8080',
      nodeName: 'node3',
      local: false,
      state: 'ready',
      selected: true,
      oneOf: 4,
    },
    {
      endpoint: '10.1.8.31:8080',
      nodeName: 'node4',
      local: false,
      state: 'ready',
      selected: true,
      oneOf: 4,
    },
    {
      endpoint: '10.1.8.40:8080',
      nodeName: 'node4',
      local: false,
      state: 'not ready',
      selected: false,
      because: 'not ready',
    },
  ],
  elsewhere: [
    { where: 'from this node', code: 'WOULD_REACH', more: 'one of 4 endpoints, masqueraded' },
    {
      where: 'from a client outside',
      code: 'WOULD_REACH',
      more: 'one of 4 endpoints, masqueraded',
    },
    { where: 'at 198.18.0.7:80', code: 'DROPPED_SOURCE_RANGE', more: 'only from 172.16.0.0/12' },
  ],
  agent: { pid: 1204, row: { is: 'applied' }, detached: [], troubles: [] },
  remarks: [{ topic: 'seen as', text: 'the endpoint sees 10.1.0.1' }],
  next: [],
} as const satisfies Partial<PathAnswer>;

/** Explanations by the target that asks for them. */
export const SCRIPTED_PATHS: Readonly<Record<string, PathAnswer>> = {
  'shop/web': {
    ...BASE,
    code: 'WOULD_REACH',
    reaches: false,
    sentence:
      'pod shop/cart-6f4d would reach shop/web:http (10.96.0.10:80) at one of 4 endpoints; only predicted, no packet was sent',
    proof: null,
    notProven: 'this page may not send packets',
  },
  'shop/web:http': {
    ...BASE,
    code: 'REACHES',
    reaches: true,
    sentence: 'pod shop/cart-6f4d reaches shop/web:http (10.96.0.10:80) at one of 4 endpoints',
    proof: {
      kind: 'syn',
      source: CLIENT,
      outcome: { is: 'forwarded', endpoint: ENDPOINT, seenAs: CLIENT },
      answer: { is: 'accepted', afterMs: 0.41 },
      steps: [
        ...TRANSLATION,
        {
          hook: 'forward',
          table: 'ip filter',
          chain: 'cali-from-wl',
          handle: 31,
          ours: false,
          verdict: 'accept',
          packet: translated,
        },
        {
          ...ours,
          hook: 'postrouting',
          chain: 'masquerading',
          handle: 88,
          does: 'not marked and no hairpin: its source stays',
          verdict: 'accept',
          packet: translated,
        },
      ],
      drop: null,
      isComplete: true,
      leftBehind: [],
      agrees: true,
    },
  },
  'shop/web:dropped': {
    ...BASE,
    code: 'DROPPED_REVERSE_PATH',
    reaches: false,
    sentence:
      'the packet of 172.31.1.5 to shop/web:http (10.96.0.10:80) was dropped by the reverse path filter of eth1',
    question: {
      ...BASE.question,
      from: {
        class: 'outside',
        because: '172.31.1.5 is not in 10.1.0.0/16, the range of pods',
        address: '172.31.1.5',
      },
    },
    proof: {
      kind: 'syn',
      source: '172.31.1.5:45343',
      outcome: { is: 'lost', after: 'prerouting' },
      answer: { is: 'silent' },
      steps: TRANSLATION.map((step) => ({
        ...step,
        packet: { source: '172.31.1.5:45343', destination: FRONTEND },
      })),
      drop: {
        reason: 'IP_RPFILTER',
        function: 'ip_rcv_finish_core',
        networkNamespace: 1,
        device: 'eth1',
        packet: DROPPED_SYN,
        original: DROPPED_SYN,
        isHere: true,
        cause: {
          code: 'DROPPED_REVERSE_PATH',
          sentence: 'the way back to 172.31.1.5 is eth0, and rp_filter of eth1 is strict',
          next: [
            'net.ipv4.conf.eth1.rp_filter = 2: any way back will do',
            'or a route to 172.31.1.0/24 by eth1, if answers are to go that way',
          ],
        },
      },
      isComplete: true,
      leftBehind: [],
      agrees: false,
    },
  },
  'shop/reviews': {
    ...BASE,
    code: 'REFUSED_NO_ENDPOINTS',
    reaches: false,
    sentence:
      'shop/reviews:http (10.96.0.11:80) has no endpoint that could serve: the client is refused at once',
    question: {
      ...BASE.question,
      target: 'shop/reviews',
      service: 'shop/reviews:http',
      frontend: '10.96.0.11:80',
    },
    predicted: { code: 'REFUSED_NO_ENDPOINTS', action: 'reject' },
    proof: null,
    notProven: 'this page may not send packets',
    candidates: [
      {
        endpoint: '10.1.4.12:8080',
        nodeName: 'node4',
        local: false,
        state: 'not ready',
        selected: false,
        because: 'not ready',
      },
    ],
    next: ['kubectl -n shop get pods -o wide'],
  },
};
