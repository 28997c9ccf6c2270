import { markdownTable } from './markdown.ts';
import { CHAPTERS } from './registry.ts';
import { SECTION_IDS, SECTIONS, type SectionId, TEXTS } from './texts.ts';

/** docs/learn/README.md: what there is to play, and which text each section comes from. */
export function indexPage(): string {
  return `${[
    '# Learn: what a node proxy does to a packet',
    'Experiments that you can play on your own machine, as root, in a cluster that exists only in network namespaces. Each shows the commands, what they print and why, checks every claim, and removes everything at the end.',
    '```sh\nnpm run lab -- tour                 # the list\nnpm run lab -- tour dead-address    # begin here\nnpm run lab -- tour dice --keep     # leave the cluster up, and look around\n```',
    'The pages were written by the chapters themselves (`npm run lab -- tour --all --docs docs/learn`). They need [what the lab needs](../lab.md#debian-packages); a chapter that needs more programs names them before it begins. Chapters that need IPVS start [another kernel](../lab.md#another-kernel), which is built at its first use: about 10 minutes, from the package `linux-source-6.1`.',
    markdownTable([['chapter', 'you learn'], ...CHAPTERS.map(chapterRow)]).join('\n'),
    '## Where the experiments come from',
    'Five public texts explain kube-proxy by hand. Every experiment in them is repeated here, with what has changed since; a test fails when one has no chapter.',
    ...TEXTS.flatMap(({ id, title, year }) => [
      `### ${title}, ${year}`,
      markdownTable([
        ['section', 'what', 'chapter'],
        ...SECTION_IDS.filter((section) => section.startsWith(`${id} `)).map(sectionRow),
      ]).join('\n'),
    ]),
  ].join('\n\n')}\n`;
}

function chapterRow({ name, title, learn }: (typeof CHAPTERS)[number]): string[] {
  return [`[${title}](${name}.md)`, learn];
}

function sectionRow(section: SectionId): string[] {
  const chapters = CHAPTERS.filter(({ repeats }) => repeats.includes(section));
  const links = chapters.map(({ name }) => `[${name}](${name}.md)`).join(', ');
  return [section.slice(section.indexOf(' ') + 1), SECTIONS[section], links];
}
