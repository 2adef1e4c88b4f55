import {
  type Clock,
  checkNames,
  type DeliveryObserver,
  type Logger,
  type RunningSinks,
  type Sink,
  SinkRefusal,
  stderrLogger,
  systemClock,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import { hostResolver, type Resolve } from '../webhooks/host-resolver.ts';
import { testEvent } from './alert.ts';
import { type AlertOptions, type AlertTargets, checkAlerts, policyOf } from './alert-options.ts';
import { AlertThreads } from './alert-threads.ts';
import { logAlertSink, webhookAlertSink } from './plain-sinks.ts';
import { slackSink } from './slack-sink.ts';

/** A sink of alerts is never given up: it tries on, less and less often, and the other ones tell that it fails. */
const NEVER_MS = 100 * 365 * 86_400_000;

export interface AlertServiceOptions extends AlertTargets {
  /** The engine itself: a client has neither records nor sinks. */
  waybill: Waybill;
  alerts: AlertOptions;
  /** Of this software. */
  version: string;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** The one that the engine goes by. @defaultValue the clock of this machine */
  clock?: Clock;
  /** For one message as a whole. @defaultValue 10_000 */
  timeoutMs?: number;
  /** Stands around every delivery, for traces and metrics. @defaultValue none */
  observe?: DeliveryObserver;
  /** @defaultValue the hosts file and the name servers of this machine */
  resolve?: Resolve;
}

/** What a test alert needs: no store, because nothing is kept of it. */
export type TestFireOptions = Omit<AlertServiceOptions, 'waybill' | 'observe'>;

const TEST_OPTIONS: Record<keyof TestFireOptions, true> = {
  ...{ alerts: true, version: true, logger: true, clock: true, allowPrivate: true, targets: true },
  ...{ timeoutMs: true, resolve: true },
};
const OPTIONS: Record<keyof AlertServiceOptions, true> = { ...TEST_OPTIONS, waybill: true, observe: true };

/** How one sink took the test alert. */
export interface FiredAlert {
  sink: string;
  ok: boolean;
  /** Why not; one line. */
  error?: string;
  ms: number;
}

export interface AlertService {
  start(): void;
  /** Lets deliveries under way end. */
  stop(): Promise<void>;
}

/** Tells Slack, a webhook and the log of incidents: each once, on one server at a time. */
export function alertService(given: AlertServiceOptions): AlertService {
  checkNames('alertService()', given, Object.keys(OPTIONS));
  const { waybill, observe, ...options } = given;
  const { records, sinks: runner } = waybill;
  if (!records || !runner) throw new WaybillError('unsupported', 'Only a server with a store sends alerts.');
  const sinks = alertSinks(options, new AlertThreads(records));
  let running: RunningSinks | undefined;
  return {
    start: () => {
      if (sinks.length === 0) return;
      running ??= runner.run({ list: async () => sinks }, { pauseAfterMs: NEVER_MS, ...(observe && { observe }) });
    },
    stop: async () => running?.stop(),
  };
}

/** Sends a test alert through each sink at once, and answers how each went. */
export async function testFire(options: TestFireOptions): Promise<FiredAlert[]> {
  checkNames('testFire()', options, Object.keys(TEST_OPTIONS));
  const { clock = systemClock } = options;
  const event = testEvent(clock.now());
  const none = { of: async () => null, note: async () => {} };
  const fire = async (sink: Sink): Promise<FiredAlert> => {
    const begun = clock.monotonic();
    const done = (end: Pick<FiredAlert, 'ok' | 'error'>): FiredAlert => ({
      ...{ sink: sink.id.replace(/^alerts-/, ''), ...end, ms: Math.round(clock.monotonic() - begun) },
    });
    try {
      await sink.deliver({ id: `test-fire-${event.at}`, event, attempt: 1 }, new AbortController().signal);
      return done({ ok: true });
    } catch (error) {
      const isTold = error instanceof SinkRefusal || error instanceof WaybillError;
      return done({ ok: false, error: isTold ? error.message : 'It failed for an unexpected reason.' });
    }
  };
  return Promise.all(alertSinks(options, none).map(fire));
}

function alertSinks(options: TestFireOptions, threads: Pick<AlertThreads, 'of' | 'note'>): Sink[] {
  const defaults = { logger: stderrLogger, clock: systemClock, timeoutMs: 10_000 };
  const { alerts, ...rest } = { ...defaults, ...options };
  const { clock, logger, resolve = hostResolver({ clock }) } = rest;
  const { from, slack, webhook, log } = checkAlerts(alerts, rest);
  const parts = { ...rest, ...policyOf(rest), resolve, from, threads };
  return [
    ...(slack ? [slackSink(slack, parts)] : []),
    ...(webhook ? [webhookAlertSink(webhook, parts)] : []),
    ...(log ? [logAlertSink({ from, logger, clock })] : []),
  ];
}
