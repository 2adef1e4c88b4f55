import { engine, type Logger, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished } from 'vitest';
import { type AppOptions, createApp } from '../app.ts';
import type { App } from '../http/env.ts';
import type { Identify } from '../http/port.ts';
import { operationFor, problemsOf } from './openapi.ts';

export const MEDIA_TYPE = 'application/openjobspec+json';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape; the OpenAPI file checks the shape.
type Body = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Body;
}

export interface LoggedLine {
  level: keyof Logger;
  fields: Record<string, unknown>;
  message: string;
}

export interface Harness {
  app: App;
  waybill: Waybill;
  clock: TestClock;
  log: LoggedLine[];
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends the body as it is. */
  raw(method: string, path: string, init?: RequestInit & { duplex?: 'half' }): Promise<Answer>;
  /** Enqueues a job on the queue `default` and answers it as the API shows it. */
  enqueued(options?: object): Promise<Body>;
  /** Claims one job and answers it with its lease token. */
  fetched(request?: object): Promise<Body>;
  /** Everything that is stored, to compare before and after. */
  stored(): Promise<string>;
}

/** The app on a real engine, the model store and a clock that the test owns. Every answer is held to the OpenAPI file. */
export function harness({
  maintenance = true,
  principal,
  ...options
}: Partial<AppOptions> & { maintenance?: boolean; principal?: Identify } = {}): Harness {
  const clock = new TestClock();
  const waybill = options.waybill ?? engine({ store: memoryStore({ clock }), maintenance, logger: silentLogger });
  const log: LoggedLine[] = [];
  const auth = principal && { auth: principal };
  const app = createApp({ waybill, clock, version: '0.0.0-test', logger: recorder(log), ...auth, ...options });
  onTestFinished(() => waybill.close());

  const raw: Harness['raw'] = async (method, path, init = {}) => {
    const response = await app.request(path, { method, ...init });
    const { status, headers } = response;
    const text = await response.text();
    const body: Body = text === '' ? undefined : JSON.parse(text);
    expect(headers.get('content-type')).toBe(MEDIA_TYPE);
    expect(headers.get('ojs-version')).toBe('1.0');
    expect(headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/);
    const operation = operationFor(method, path.split('?')[0]!);
    if (operation) expect(problemsOf(operation, status, MEDIA_TYPE, body)).toEqual([]);
    return { status, headers, body };
  };
  const send =
    (method: string) =>
    (path: string, body?: unknown, headers: Record<string, string> = {}) =>
      raw(method, path, {
        headers: { 'Content-Type': MEDIA_TYPE, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
  const post = send('POST');

  return {
    app,
    waybill,
    clock,
    log,
    raw,
    post,
    get: (path, headers = {}) => raw('GET', path, { headers }),
    put: send('PUT'),
    delete: (path, headers = {}) => raw('DELETE', path, { headers }),
    enqueued: async (jobOptions = {}) => {
      const { status, body } = await post('/ojs/v1/jobs', { type: 'test.job', args: [1], options: jobOptions });
      expect(status).toBe(201);
      return body.job;
    },
    fetched: async (request = {}) => {
      const { status, body } = await post('/ojs/v1/workers/fetch', { queues: ['default'], ...request });
      expect(status).toBe(200);
      expect(body.jobs).toHaveLength(1);
      return body.jobs[0];
    },
    stored: async () => {
      const { items } = await waybill.jobs.list({ limit: 1_000 });
      const { events } = await waybill.events.read({ limit: 1_000 });
      const workflows = (await waybill.workflows.list({ limit: 1_000 })).items;
      const others = [await waybill.crons.list(), await waybill.queues.list()];
      return JSON.stringify([items, events, workflows, ...others]);
    },
  };
}

function recorder(log: LoggedLine[]): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) =>
    void log.push({ level, fields: { ...fields }, message });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
