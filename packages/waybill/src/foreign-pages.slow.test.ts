import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { engine, type Waybill } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { browserIsMissing, launchBrowser } from './testing/browser.ts';

/** Only the newest browsers keep pages away from loopback by themselves, and only those that came from elsewhere. */
const NO_PROTECTION_OF_ITS_OWN = '--disable-features=LocalNetworkAccessChecks';

/** Everything that a page can try with the server at `api`. Answers what it could read. */
const tryEverything = (api: string): string => `(async () => {
  const jobs = ${JSON.stringify(api)} + '/ojs/v1/jobs', events = ${JSON.stringify(api)} + '/ojs/v1/events?from=start';
  const pause = ${JSON.stringify(api)} + '/ojs/v1/queues/default/pause';
  const read = [];
  const fetched = async (url, init) => {
    try { read.push(await (await fetch(url, init)).text()); } catch {}
  };
  const added = (name, fields, ...children) => new Promise((resolve) => {
    const element = Object.assign(document.createElement(name), fields, { onload: resolve, onerror: resolve });
    element.append(...children);
    document.body.append(element);
    if (name === 'form') element.submit();
  });
  await fetched(pause, { method: 'POST', mode: 'no-cors' });
  await fetched(pause, { method: 'POST' });
  await fetched(jobs, { mode: 'no-cors' });
  await fetched(jobs);
  const job = JSON.stringify({ type: 'foreign.job', args: [] });
  await fetched(jobs, { method: 'POST', body: job, mode: 'no-cors' });
  await fetched(jobs, { method: 'POST', body: job, headers: { 'content-type': 'application/json' } });
  await fetched(jobs + '/' + location.hash.slice(1), { method: 'DELETE' });
  navigator.sendBeacon(pause);
  await new Promise((resolve) => {
    const source = new EventSource(events);
    source.onerror = resolve;
    source.addEventListener('job.enqueued', ({ data }) => resolve(read.push(data)));
  });
  await added('img', { src: jobs });
  await added('script', { src: jobs });
  const framed = added('iframe', { name: 'target', src: jobs });
  await framed;
  const target = document.querySelector('iframe');
  const submitted = new Promise((resolve) => { target.onload = resolve; });
  added('form', { method: 'post', action: pause, target: 'target' });
  await submitted;
  try { read.push(target.contentDocument.body.textContent); } catch {}
  return read.join('\\n');
})()`;

interface Visit {
  read: string;
  /** Of every request to the server. */
  statuses: Set<number>;
}

/** Opens a page of the origin, which need not have a server: the browser is handed the page. */
async function openPage(browser: Browser, origin: string): Promise<Page> {
  const page = await browser.newPage();
  await page.route(`${origin}/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<body></body>' }));
  await page.goto(`${origin}/page`);
  return page;
}

async function visit(browser: Browser, origin: string, api: string, id: string): Promise<Visit> {
  const page = await openPage(browser, origin);
  const statuses = new Set<number>();
  page.on('response', (response) => {
    if (response.url().startsWith(`${api}/ojs`)) statuses.add(response.status());
  });
  await page.evaluate(`location.hash = '${id}'`);
  const read = (await page.evaluate(tryEverything(api))) as string;
  await page.close();
  return { read, statuses };
}

async function stored(waybill: Waybill): Promise<string> {
  const { items } = await waybill.jobs.list({ limit: 100 });
  const { events } = await waybill.events.read({ limit: 100 });
  return JSON.stringify([items, events, await waybill.queues.list()]);
}

/** Another server on this machine; only its port matters. */
async function otherPort(): Promise<number> {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test.skipIf(browserIsMissing)(
  'A9: a page of another origin neither reads nor changes anything, a page of this one does (needs Chromium)',
  { timeout: 60_000 },
  async () => {
    const waybill = engine({ store: memoryStore() });
    const listening = await serve(createApp({ waybill, version: 'test' }), { port: 0, graceMs: 100 });
    onTestFinished(async () => {
      await listening.close();
      await waybill.close();
    });
    const { job } = await waybill.jobs.enqueue({ type: 'own.job', args: [] });
    const before = await stored(waybill);
    const api = listening.url;
    const { port } = new URL(api);
    const browser = await launchBrowser('--host-resolver-rules=MAP *.example 127.0.0.1', NO_PROTECTION_OF_ITS_OWN);

    const other = await otherPort();
    for (const origin of [`http://127.0.0.1:${other}`, `http://localhost:${port}`, `http://evil.example:${other}`]) {
      const { read, statuses } = await visit(browser, origin, api, job.id);
      expect({ origin, read: read.trim(), statuses: [...statuses] }).toEqual({ origin, read: '', statuses: [403] });
      expect(await stored(waybill)).toBe(before);
    }

    // DNS rebinding: to the browser, page and server have one origin, so it lets the page read the refusals.
    const rebound = `http://evil.example:${port}`;
    const { read, statuses } = await visit(browser, rebound, rebound, job.id);
    expect(read).toContain("Host 'evil.example' is not allowed.");
    expect(read).not.toContain('own.job');
    expect([...statuses]).toEqual([403]);
    expect(await stored(waybill)).toBe(before);

    const linking = await openPage(browser, `http://evil.example:${other}`);
    await linking.evaluate(`location.href = '${api}/ojs/manifest'`);
    await linking.waitForURL(`${api}/ojs/manifest`);
    expect(await linking.textContent('body')).toContain('waybill');

    const own = await visit(browser, api, api, job.id);
    expect(own.read).toContain('own.job');
    expect(own.read).toContain('job.enqueued');
    expect([...own.statuses].some((status) => status === 403)).toBe(false);
    expect((await waybill.queues.list())[0]).toMatchObject({ paused: true });
    expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'cancelled' });
  },
);
