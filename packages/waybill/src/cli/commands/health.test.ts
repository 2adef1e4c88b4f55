// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the configuration file look like placeholders.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { engine, systemClock } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { folder, Terminal } from '../testing/terminal.ts';

const MINUTE = 60_000;
const TOKEN = 'the-secret-hook';

/** A receiver on loopback that answers with these statuses, one after the other. */
async function hook(...statuses: number[]) {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(request.url!);
    request.resume();
    response.writeHead(statuses.shift() ?? 204).end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${TOKEN}`, got };
}

async function stuck(terminal: Terminal): Promise<void> {
  await terminal.run('enqueue', 'page.fetch', '--queue', 'pages');
  await terminal.engine((waybill) => waybill.jobs.claim({ queues: ['pages'], leaseMs: 30_000, workerId: 'w1' }));
}

test('tells that all is well', async () => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  expect(await terminal.text('health')).toMatchInlineSnapshot(`
    "
    status   healthy
    running  0
    "
  `);
});

test('tells what is wrong, the worst first, and exits with 1 when something is critical', async () => {
  const terminal = new Terminal();
  await stuck(terminal);
  await terminal.run('enqueue', 'mail.send');
  terminal.columns = 80;
  terminal.now += 6 * MINUTE;
  expect(await terminal.text('health')).toMatchInlineSnapshot(`
    "
    exit 1
    status   critical
    running  1: 0 healthy, 1 warning, 0 critical, 0 overtime

    critical  Queue 'default' has jobs, and no worker is live.
    critical  Maintenance is 5 minutes behind: job
              ID-1................................ was due then.
    warning   Job ID-1................................ (page.fetch) has given no
              sign of life for 6 minutes.
    warning   The next job of queue 'default' has waited for 6 minutes.
    "
  `);
  expect(await terminal.text('health', terminal.id(1))).toMatchInlineSnapshot(`
    "
    job         ID-1................................
    type        page.fetch
    queue       pages
    state       active
    health      warning
    runs since  6m
    silent for  6m
    last event  job.started
    worker      w1
    "
  `);
  expect(await terminal.json('health')).toMatchObject({
    ...{ status: 'critical', jobs: { total: 1, warning: 1 } },
    findings: [{ check: 'live-workers' }, {}, {}],
    server: { findings: [{ check: 'sweep-lag', severity: 'critical' }] },
  });
  expect(await terminal.json('health', terminal.id(1))).toMatchObject({
    job: { health: 'warning', silent_ms: 360_000 },
  });
});

test('takes the levels of the configuration file', async () => {
  const terminal = new Terminal();
  await stuck(terminal);
  terminal.now += 6 * MINUTE;
  const file = path.join(folder(), 'waybill.yaml');
  writeFileSync(file, 'health:\n  off: [sweep-lag]\n  tasks:\n    page.fetch: { overtime: 5m }\n');
  const { out, code } = await terminal.run('health', '--config', file, '--json');
  expect([code, JSON.parse(out)]).toMatchObject([1, { tasks: [{ health: 'overtime' }], server: { findings: [] } }]);
});

test('--watch draws again every 5 seconds until it is interrupted', async () => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  terminal.isTty = true;
  terminal.columns = 80;
  terminal.rows = 24;
  terminal.onSleep = () => {
    if (terminal.waits.length === 2) terminal.interruption.abort();
  };
  const { out, code } = await terminal.run('health', '--watch');
  expect([code, terminal.waits, out.split('healthy').length - 1]).toEqual([0, [5_000, 5_000], 2]);
  expect((await terminal.run('health', '--watch', '--json')).code).toBe(2);
});

test('asks a server', async () => {
  const terminal = new Terminal();
  await stuck(terminal);
  terminal.now += 6 * MINUTE;
  const clock = { ...systemClock, now: () => terminal.now };
  const waybill = engine({ store: await openStore(terminal.store, { clock }), maintenance: false });
  const listening = await serve(createApp({ waybill, version: '0', clock }), { port: 0 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  const { code, out } = await terminal.run('health', '--store', listening.url, '--json');
  expect([code, JSON.parse(out)]).toMatchObject([1, { tasks: [{ health: 'warning', job_type: 'page.fetch' }] }]);
});

test('test-fire tells how each sink took the alert, and exits with 1 when one did not', async () => {
  const terminal = new Terminal();
  const [slack, other] = [await hook(200), await hook(500)];
  const file = path.join(folder(), 'waybill.yaml');
  const lines = ['alerts:', '  slack: { webhook: "${SLACK}" }', `  webhook: { url: '${other.url}' }`, '  log: true'];
  writeFileSync(file, `${lines.join('\n')}\n`);
  terminal.env['SLACK'] = slack.url;
  const { code, out, err } = await terminal.run(
    ...['health', 'test-fire', '--config', file, '--allow-private-webhooks', '--json', '--log-format', 'pretty'],
  );
  expect([code, JSON.parse(out)]).toMatchObject([
    1,
    {
      alerts: [
        { sink: 'slack', ok: true },
        { sink: 'webhook', ok: false, error: 'The receiver answered 500.' },
        { sink: 'log', ok: true },
      ],
    },
  ]);
  expect([slack.got, other.got]).toEqual([[`/${TOKEN}`], [`/${TOKEN}`]]);
  expect(err).toContain('This is a test alert of Waybill.');
  expect(out + err).not.toContain(TOKEN);
});

test('test-fire without sinks says what to do, and a half set up bot is refused', async () => {
  const terminal = new Terminal();
  expect(await terminal.text('health', 'test-fire')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: No sink of alerts is set up.
      Add a section alerts to the configuration file; docs/health.md begins with an example.
    "
  `);
  terminal.env['WAYBILL_SLACK_TOKEN'] = 'xoxb-1';
  expect(await terminal.text('health', 'test-fire')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: 'alerts.slack.channel' must name the channel that the bot writes to.
      waybill health test-fire --help tells how to use it.
    "
  `);
});
