import { engine, type Logger, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { receiver } from '../testing/receiver.ts';
import { fakeSlack, slackSays } from '../testing/slack.ts';
import type { AlertOptions } from './alert-options.ts';
import { alertService, testFire } from './alert-service.ts';

const MINUTE = 60_000;
const HEALTH = { off: ['live-workers', 'sweep-lag', 'clock-skew'] } as const;
const TOKEN = 'xoxb-the-secret-token';

/** Servers of one store, each with all the sinks. */
function fleet(count: number, alerts: AlertOptions, logger: Logger = silentLogger) {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  onTestFinished(() => store.close());
  const servers = Array.from({ length: count }, () => {
    const own = { ...store, close: async () => {} };
    const waybill: Waybill = engine({ store: own, logger, maintenance: false, health: HEALTH });
    const service = alertService({ waybill, alerts, clock, version: '1.2.3', logger, allowPrivate: true });
    service.start();
    onTestFinished(async () => {
      await service.stop();
      await waybill.close();
    });
    return { waybill, service };
  });
  return { clock, servers, waybill: servers[0]!.waybill };
}

async function untilGot(clock: TestClock, got: readonly unknown[], count: number): Promise<void> {
  while (got.length < count) await clock.advance(1_000);
}

test('5 servers tell Slack once of an incident, of its escalation and of its end', async () => {
  const slack = await fakeSlack();
  const { clock, servers, waybill } = fleet(5, { slack: { token: TOKEN, channel: 'C1', api: slack.api } });
  await clock.advance(1_000);
  const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant: 'acme' });
  const round = () => Promise.all(servers.map((server) => server.waybill.checks.round!()));
  await clock.advance(6 * MINUTE);
  await round();
  await untilGot(clock, slack.got, 1);
  await clock.advance(30 * MINUTE);
  await round();
  await untilGot(clock, slack.got, 2);
  await waybill.jobs.cancel(job.id, { tenant: 'acme' });
  await round();
  await round();
  await untilGot(clock, slack.got, 3);
  // Whoever would tell it again has had the time.
  await clock.advance(5 * MINUTE);
  const words = slack.got.map(({ event }) => event.text.split(' ')[0]);
  expect(words).toEqual([':warning:', ':red_circle:', ':white_check_mark:']);
  expect(slack.got.map(({ event }) => event.thread_ts)).toEqual([undefined, '17000000.1', '17000000.1']);
  expect(slack.got[0]!.event.blocks[1].fields).toContainEqual(expect.objectContaining({ text: 'Tenant: acme' }));
});

test('waits as long as Slack asks, and shows no token in what it logs and keeps', async () => {
  const slack = await fakeSlack();
  const lines: string[] = [];
  const line = (fields: object, message: string) =>
    void lines.push(
      message,
      JSON.stringify(fields, (_, value) => (value instanceof Error ? value.stack : value)),
    );
  const logger = { debug: line, info: line, warn: line, error: line };
  const { clock, waybill } = fleet(1, { slack: { token: TOKEN, channel: 'C1', api: slack.api } }, logger);
  await clock.advance(1_000);
  slack.next.push(slackSays(429, '', { 'Retry-After': '120' }), slackSays(200, { ok: false, error: 'invalid_auth' }));
  await waybill.jobs.enqueue({ type: 'a.b', args: [] });
  await clock.advance(6 * MINUTE);
  await waybill.checks.round!();
  await untilGot(clock, slack.got, 1);
  await clock.advance(118_000);
  expect(slack.got).toHaveLength(1);
  await untilGot(clock, slack.got, 3);
  const kept = await waybill.sinks!.state({ tenant: '~system', id: 'alerts-slack' });
  expect(kept).toMatchObject({ status: 'active', lastError: expect.stringContaining('invalid_auth') });
  expect(lines.length).toBeGreaterThan(0);
  expect(JSON.stringify([lines, kept])).not.toContain(TOKEN);
});

test('a webhook gets the events of incidents, signed; the log gets a line each', async () => {
  const hook = await receiver();
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void lines.push(message) };
  const webhook = { url: `${hook.url}/alerts`, secret: 'whsec_c2VjcmV0' };
  const { clock, waybill } = fleet(1, { webhook, log: true }, logger);
  await clock.advance(1_000);
  await waybill.jobs.enqueue({ type: 'a.b', args: [] });
  await clock.advance(6 * MINUTE);
  await waybill.checks.round!();
  await untilGot(clock, hook.got, 1);
  expect(hook.got[0]).toMatchObject({
    path: '/alerts',
    event: { type: 'incident.opened', data: { check: 'queue-age', severity: 'warning' } },
    headers: { 'webhook-signature': expect.stringMatching(/^v1,/) },
  });
  expect(lines).toEqual(["Incident opened: The next job of queue 'default' has waited for 6 minutes."]);
});

describe('test-fire', () => {
  test('sends a test alert through each sink, and says how each went', async () => {
    const [slack, hook] = [await fakeSlack(), await receiver()];
    hook.answer = (response) => response.writeHead(500).end();
    const lines: string[] = [];
    const logger = { ...silentLogger, error: (_: object, message: string) => void lines.push(message) };
    const alerts = { slack: { webhookUrl: slack.webhookUrl }, webhook: { url: hook.url }, log: true } as const;
    expect(await testFire({ alerts, version: '1.2.3', logger, allowPrivate: true })).toEqual([
      { sink: 'slack', ok: true, ms: expect.any(Number) },
      { sink: 'webhook', ok: false, error: 'The receiver answered 500.', ms: expect.any(Number) },
      { sink: 'log', ok: true, ms: expect.any(Number) },
    ]);
    expect(slack.got[0]!.event.text).toContain('This is a test alert of Waybill. Nothing is wrong.');
    expect(lines).toHaveLength(1);
  });

  test('without sinks sends nothing', async () => {
    expect(await testFire({ alerts: {}, version: '1.2.3' })).toEqual([]);
  });
});

test.each<[string, unknown, string]>([
  ['a misspelt sink', { slak: {} }, "Did you mean 'slack'?"],
  ['a severity that is none', { from: 'worst' }, 'alerts.from'],
  ['a bot without a channel', { slack: { token: TOKEN } }, 'alerts.slack.channel'],
  ['a channel without a bot', { slack: { channel: 'C1' } }, 'alerts.slack.token'],
  ['a token of two lines', { slack: { token: `${TOKEN}\nX`, channel: 'C1' } }, 'alerts.slack.token'],
  ['a bot and a webhook', { slack: { token: TOKEN, webhookUrl: 'https://hooks.slack.com/x' } }, 'not both'],
  ['a webhook that is no address', { slack: { webhookUrl: 'hook-secret' } }, 'alerts.slack.webhookUrl'],
  ['a private address', { webhook: { url: 'https://10.0.0.1/hook-secret' } }, 'alerts.webhook.url'],
])('refuses %s, and repeats no secret', async (_, alerts, why) => {
  const refused = testFire({ alerts: alerts as AlertOptions, version: '1.2.3' });
  await expect(refused).rejects.toThrow(why);
  await expect(refused).rejects.not.toThrow(/the-secret|hook-secret/);
});
