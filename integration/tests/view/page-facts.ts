import type { Page } from '../../../lab/browser/page.ts';

/** A piece of text whose contrast to what is behind it is less than WCAG's AA asks for. */
export interface FaintText {
  readonly text: string;
  readonly contrast: number;
}

/** Pixels by which the page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
}

/**
 * Every visible piece of text with too little contrast: 4.5, or 3 where it is large. Colours are read
 * from a canvas, which knows every way to write them.
 */
export async function faintTexts(page: Page): Promise<readonly FaintText[]> {
  return await page.evaluate<FaintText[]>(`(${findFaintTexts.toString()})()`);
}

/* Runs in the page, so it may use nothing of this file. */
function findFaintTexts(): FaintText[] {
  // biome-ignore lint/suspicious/noExplicitAny: the types of a browser are not known here
  const { document, getComputedStyle, NodeFilter } = globalThis as any;
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour: string): number[] => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data] as number[];
  };
  const over = (top: number[], below: number[]): number[] => {
    const alpha = (top[3] ?? 0) / 255;
    return [0, 1, 2].map((at) => (top[at] ?? 0) * alpha + (below[at] ?? 0) * (1 - alpha));
  };
  // biome-ignore lint/suspicious/noExplicitAny: an element
  const behind = (element: any): number[] => {
    if (element === null) return [255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 255 ? own : over(own, behind(element.parentElement));
  };
  const light = (colour: number[]): number => {
    const [r = 0, g = 0, b = 0] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map<string, FaintText>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text: string = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (
      text === '' ||
      element.closest('svg, noscript, [hidden], dialog:not([open]), .skip') !== null
    )
      continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const background = behind(element);
    const [a, b] = [light(over(rgba(style.color), background)), light(background)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    if (contrast < (isLarge ? 3 : 4.5))
      found.set(`${style.color} ${background}`, {
        text: `${text.slice(0, 40)} (${element.className})`,
        contrast,
      });
  }
  return [...found.values()];
}
