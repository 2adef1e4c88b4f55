import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { browserIsMissing, launchBrowser } from './testing/browser.ts';

const example = fileURLToPath(new URL('../../../examples/progress-page.mjs', import.meta.url));

async function startExample(): Promise<string> {
  const child = spawn(process.execPath, [example], { env: { ...process.env, PORT: '0' } });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  for await (const line of createInterface(child.stdout)) {
    const address = /http:\S+/.exec(line)?.[0];
    if (address) return address;
  }
  throw new Error(`The example ended with ${child.exitCode}.`);
}

test.skipIf(browserIsMissing)(
  'examples/progress-page.mjs: a browser shows the progress of a job as it goes (needs Chromium)',
  { timeout: 60_000 },
  async () => {
    const address = await startExample();
    const browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto(address);
    await page.evaluate(`{
      globalThis.seen = [];
      const told = document.querySelector('output');
      new MutationObserver(() => seen.push(told.textContent)).observe(told, { childList: true });
    }`);
    await page.click('button');
    await page.waitForFunction(`document.querySelector('output').value === 'job.completed'`);
    const seen = (await page.evaluate('seen')) as string[];
    const rows = seen.filter((text) => text.endsWith(' of 400')).map((text) => Number.parseInt(text, 10));
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect(rows).toEqual([...rows].sort((a, b) => a - b));
    expect(rows.at(-1)).toBe(400);
    expect(await page.evaluate(`document.querySelector('progress').value`)).toBe(1);
  },
);
