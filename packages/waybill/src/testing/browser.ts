import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { onTestFinished } from 'vitest';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const browserPath = [process.env['WAYBILL_TEST_BROWSER'] ?? '', ...BROWSERS].find((file) => existsSync(file));

/** With CI=true the test itself shall fail. */
export const browserIsMissing = browserPath === undefined && process.env['CI'] !== 'true';

/** A real browser that is closed after the test. */
export async function launchBrowser(...more: string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: browserPath!,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
      ...more,
    ],
  });
  onTestFinished(() => browser.close());
  return browser;
}
