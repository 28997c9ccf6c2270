/** A command that was typed, and what it printed. */
export interface Typed {
  readonly command: string;
  readonly exit: number;
  /** Both streams, as a person sees them. */
  readonly text: string;
}

/** The parts of what `fairlead explain` prints that are judged. */
export interface Answer {
  readonly code: string | undefined;
  /** The first line, however many rows of a terminal it takes. */
  readonly firstLine: string;
  readonly next: readonly string[];
}

const TOPIC = /^ {2}(\S.{0,12}?)\s{2,}(\S.*)$/;
const CODE = /^([A-Z][A-Z_]+) {2}/;

/** Reads the text for people: what is asserted is what they see. */
export function readAnswer(text: string): Answer {
  const lines = text.split('\n');
  const start = Math.max(
    0,
    lines.findIndex((line) => CODE.test(line)),
  );
  const blank = lines.indexOf('', start);
  const head = lines.slice(start, blank < 0 ? undefined : blank);
  const code = CODE.exec(head[0] ?? '')?.[1];
  return {
    code,
    firstLine: joined(head),
    next:
      code === undefined ? [joined(lines.slice(blank < 0 ? lines.length : blank))] : nextOf(lines),
  };
}

function nextOf(lines: readonly string[]): string[] {
  const found: string[][] = [];
  let isNext = false;
  for (const line of lines) {
    const [, topic, text = ''] = TOPIC.exec(line) ?? [];
    if (topic !== undefined && !line.startsWith('    ')) {
      isNext = topic === 'next';
      if (isNext) found.push([text]);
    } else if (isNext && line.startsWith('    ')) found.at(-1)?.push(line);
    else isNext = false;
  }
  return found.map(joined);
}

function joined(lines: readonly string[]): string {
  return lines.join(' ').replaceAll(/\s+/g, ' ').trim();
}

/** Programs by which a line `next` may begin, or what it has in backticks. */
const PROGRAMS =
  'fairlead|kubectl|nft|ip|iptables|ip6tables|iptables-save|sysctl|conntrack|ss|kill|systemctl|mount|df|tc|bpftool|dig';
const COMMAND = new RegExp(`^(?:sudo )?(?:${PROGRAMS}) `);
const WITHIN = new RegExp(`(?:^|[:;,] |\\bon node\\d+: |\\b(?:run|type) )((?:${PROGRAMS}) .+)$`);
/** Prose that follows a command in the same line. */
const PROSE = /(?:, |; | shows | \(|: the | lists ).*$/;

/** The command in a line of `next`, as a person would copy it; undefined: it is no command. */
export function commandIn(next: string): string | undefined {
  const [, quoted] = /`([^`]+)`/.exec(next) ?? [];
  if (quoted !== undefined && COMMAND.test(`${quoted} `)) return quoted;
  const [, bare] = WITHIN.exec(next) ?? [];
  return bare?.replace(PROSE, '').trim();
}
