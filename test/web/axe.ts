import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const IMPACTS = ['minor', 'moderate', 'serious', 'critical'] as const;

/** Findings of axe-core on the page as it stands, from this impact on, one line each. */
export async function findings(
  page: Page,
  from: (typeof IMPACTS)[number],
  rules?: readonly string[],
): Promise<readonly string[]> {
  const options = rules ? { runOnly: rules } : {};
  // Evaluated by the debugger, so the page's own content security policy stays as strict as it is.
  const violations = (await page.evaluate(
    `(async () => { ${source}; return (await axe.run(document, ${JSON.stringify(options)})).violations; })()`,
  )) as readonly Finding[];
  const worse = IMPACTS.slice(IMPACTS.indexOf(from)) as readonly string[];
  return violations
    .filter(({ impact }) => impact !== null && worse.includes(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ''}`),
    );
}

/** Serious and critical findings. */
export const seriousFindings = (page: Page): Promise<readonly string[]> => findings(page, 'serious');

/** The dark differs from the light in its colours alone; everything else is looked at once. */
export const darkFindings = (page: Page): Promise<readonly string[]> =>
  findings(page, 'moderate', ['color-contrast', 'link-in-text-block']);

/** Text with a contrast below 4.5, whatever its size: what axe lets pass as large text is not let pass here. */
export const lowContrast = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (color: string): number[] => {
      if (!canvas) return [0, 0, 0, 1];
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const light = ([r = 0, g = 0, b = 0]: number[]): number => {
      const part = (value: number): number =>
        value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
      return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const behind = (element: Element): number[] => {
      const layers: number[][] = [];
      for (let at: Element | null = element; at; at = at.parentElement) {
        const layer = rgba(getComputedStyle(at).backgroundColor);
        if ((layer[3] ?? 0) > 0) layers.push(layer);
        if ((layer[3] ?? 0) >= 0.999) break;
      }
      let under = [255, 255, 255];
      for (const [r = 0, g = 0, b = 0, a = 0] of layers.reverse())
        under = [r, g, b].map((value, index) => value * a + (under[index] ?? 0) * (1 - a));
      return under;
    };
    const low: string[] = [];
    const dialog = document.querySelector('dialog[open]');
    const walk = document.createTreeWalker(dialog ?? document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const element = node.parentElement;
      if (!element || !node.textContent?.trim() || !element.checkVisibility({ opacityProperty: true }))
        continue;
      if (element.closest('[aria-hidden=true] .skeleton, :disabled, .sr-only')) continue;
      const front = light(rgba(getComputedStyle(element).color));
      const back = light(behind(element));
      const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
      if (ratio < 4.5)
        low.push(`${ratio.toFixed(2)}: ${node.textContent.trim().slice(0, 60)} in ${element.className}`);
    }
    return low;
  });
