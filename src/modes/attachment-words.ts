import { WINGS } from '../wings/wing-registry.ts';
import type { AttachmentWords } from './part.ts';

const NFTABLES: AttachmentWords = {
  place: 'nftables',
  title: 'nftables',
  noun: 'table',
  isHook: false,
  one: 'nftables',
};

/** For a place that only another build has, its own name. */
export function attachmentWords(place: string): AttachmentWords {
  const known = [NFTABLES, ...WINGS.flatMap(({ attachments = [] }) => attachments)];
  const unknown = { place, title: place, noun: place, isHook: false, one: place };
  return known.find((words) => words.place === place) ?? unknown;
}
