import { verdict } from '../nftables/listed-expressions.ts';
import type { TableFamily } from '../nftables/protocol.ts';
import type { Binary } from '../nftables/userdata.ts';
import {
  destinationNatTarget,
  markTarget,
  masqueradeTarget,
  rejectTarget,
} from '../nftables/xt-targets.ts';
import { addressBytes, markAndMask, portOf } from './rule-numbers.ts';
import type { RuleWords } from './rule-words.ts';

/** Reads the options of a target; undefined: some are not known here. */
type TargetReader = (words: RuleWords, family: TableFamily) => Binary | undefined;

const TARGET_READERS: Readonly<Record<string, TargetReader>> = {
  ACCEPT: () => verdict('accept'),
  DROP: () => verdict('drop'),
  RETURN: () => verdict('return'),
  MARK: (words) => {
    const to = markAndMask(words.after('--set-xmark'));
    return to && markTarget(to);
  },
  MASQUERADE: (words, family) => masqueradeTarget(family, words.take('--random-fully')),
  REJECT: (words, family) => rejectTarget(family, words.after('--reject-with')),
  DNAT: (words, family) => readDestination(words.after('--to-destination'), family),
};

/** The arguments of `-j`: a target with its options, or else a chain. */
export function targetExpressions(words: RuleWords, family: TableFamily): Binary | undefined {
  const name = words.next();
  if (name === '') return undefined;
  if (Object.hasOwn(TARGET_READERS, name)) return TARGET_READERS[name]?.(words, family);
  return verdict('jump', name);
}

/** `10.0.0.1:80`, `[fd00::1]:80`, or an address without a port. */
function readDestination(text: string, family: TableFamily): Binary | undefined {
  const pattern = family === 'ip' ? /^([\d.]+)(?::(\d+))?$/ : /^\[?([^\]]+?)(?:\]:(\d+))?$/;
  const [, host = '', portText] = pattern.exec(text) ?? [];
  const address = addressBytes(host, family);
  const port = portText === undefined ? undefined : portOf(portText);
  if (address === undefined || (portText !== undefined && port === undefined)) return undefined;
  return destinationNatTarget(address, port);
}
