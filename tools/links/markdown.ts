/** A link or image of a Markdown page, and the line it is on. */
export interface Link {
  readonly target: string;
  readonly line: number;
}

const INLINE = /!?\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^\s{0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?/;
const HTML = /\b(?:href|src|srcset)="([^"]+)"/g;
const FENCE = /^\s*(?:```|~~~)/;
const HEADING = /^#{1,6}\s+(.+?)\s*#*\s*$/;
const HTML_ANCHOR = /<a\s[^>]*\b(?:id|name)="([^"]+)"/g;

/** Links outside of code blocks and inline code. */
export function linksOf(markdown: string): readonly Link[] {
  return proseLines(markdown).flatMap(({ text, line }) => {
    const targets = [...text.matchAll(INLINE), ...text.matchAll(HTML)].map(([, target]) => target);
    targets.push(REFERENCE.exec(text)?.[1]);
    return targets.flatMap((target) => (target === undefined ? [] : { target, line }));
  });
}

/** Anchors that GitHub gives the headings of a page, and those written as `<a id="…">`. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const { text } of proseLines(markdown, 'with code')) {
    for (const [, anchor = ''] of text.matchAll(HTML_ANCHOR)) anchors.add(anchor);
    const heading = HEADING.exec(text)?.[1];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** Lower case, spaces as hyphens, no punctuation; of a link only its text counts. */
function slugOf(heading: string): string {
  const text = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');
}

interface Line {
  readonly text: string;
  readonly line: number;
}

function proseLines(markdown: string, inlineCode?: 'with code'): readonly Line[] {
  let isCode = false;
  return markdown.split('\n').flatMap((text, index) => {
    if (FENCE.test(text)) {
      isCode = !isCode;
      return [];
    }
    if (isCode) return [];
    const shown = inlineCode === 'with code' ? text : text.replaceAll(/`[^`]*`/g, '``');
    return { text: shown, line: index + 1 };
  });
}
