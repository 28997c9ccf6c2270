import type { AnyChapter } from './chapter.ts';
import { ADDRESSES } from './chapters/addresses.ts';
import { CHAINS } from './chapters/chains.ts';
import { CLEAN_UP } from './chapters/clean-up.ts';
import { DEAD_ADDRESS } from './chapters/dead-address.ts';
import { DICE_CHAPTER } from './chapters/dice.ts';
import { FIVE_WAYS, FIVE_WAYS_IPVS } from './chapters/five-ways.ts';
import { IPVS } from './chapters/ipvs.ts';
import { KUBE_PROXY_IPVS } from './chapters/kube-proxy-ipvs.ts';
import { MIDDLEMAN } from './chapters/middleman.ts';
import { NAMES } from './chapters/names.ts';
import { ONE_RULE } from './chapters/one-rule.ts';
import { OTHER_HOST } from './chapters/other-host.ts';
import { PING } from './chapters/ping.ts';
import { SCALE } from './chapters/scale.ts';
import { SOCKET_EBPF } from './chapters/socket-ebpf.ts';
import { SOURCE_ADDRESS } from './chapters/source-address.ts';
import { TC_EBPF } from './chapters/tc-ebpf.ts';

/** In the order in which they build on each other. */
export const CHAPTERS: readonly AnyChapter[] = [
  DEAD_ADDRESS,
  MIDDLEMAN,
  ONE_RULE,
  DICE_CHAPTER,
  CHAINS,
  ADDRESSES,
  SOURCE_ADDRESS,
  OTHER_HOST,
  SCALE,
  NAMES,
  PING,
  IPVS,
  KUBE_PROXY_IPVS,
  TC_EBPF,
  SOCKET_EBPF,
  FIVE_WAYS,
  FIVE_WAYS_IPVS,
  CLEAN_UP,
];
