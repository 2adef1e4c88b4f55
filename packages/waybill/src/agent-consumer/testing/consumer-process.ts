import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { engine, type Job, silentLogger, type Waybill } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { CommandProcess } from '../../testing/command-process.ts';
import { QUEUE } from '../task-message.ts';
import { MessageQueue } from './message-queue.ts';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const READY = /waybill works on /;

/** A folder inside of the repository, so that a module in it finds the packages under their own names. */
export function appFolder(): string {
  const made = mkdtempSync(path.join(root, '.docs-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A module of the user, with one task whose handler has this text. */
export function taskModule(folder: string, run: string, before = ''): string {
  const file = path.join(folder, 'task.mjs');
  writeFileSync(
    file,
    `import { task } from 'waybill';\n${before}\nexport const own = task('own.task', { run: ${run} });\n`,
  );
  return file;
}

/** The command with the preset, on an SQS queue; the test is the producer and looks into the store. */
export class Consumer {
  readonly folder = appFolder();
  readonly queue: MessageQueue;
  readonly #store = `sqlite:${path.join(this.folder, 'jobs.db')}`;
  #waybill: Waybill | undefined;

  private constructor(queue: MessageQueue) {
    this.queue = queue;
  }

  static async open(): Promise<Consumer> {
    const consumer = new Consumer(await MessageQueue.start());
    onTestFinished(async () => {
      await consumer.#waybill?.close();
      await consumer.queue.stop();
    });
    return consumer;
  }

  /** The seed's environment and nothing else but where the store is. */
  env(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    return {
      ...{ SQS_QUEUE_URL: this.queue.url, AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
      ...{ WAYBILL_STORE: this.#store, WAYBILL_LOG: 'info', WAIT_TIME_SECONDS: '1', ...more },
    };
  }

  async start(module: string | undefined, env: NodeJS.ProcessEnv = {}, ...options: string[]): Promise<CommandProcess> {
    const args = ['work', '--preset', 'agent-consumer', ...(module === undefined ? [] : [module]), ...options];
    const started = await CommandProcess.start([...args, '--log-format', 'pretty'], READY, this.env(env));
    onTestFinished(async () => void (await started.end('SIGKILL')));
    return started;
  }

  async waybill(): Promise<Waybill> {
    const open = async () => engine({ store: await openStore(this.#store), maintenance: false, logger: silentLogger });
    this.#waybill ??= await open();
    return this.#waybill;
  }

  /** Resolves with the job, once the log has told this of one. */
  async told(type: 'job.completed' | 'job.discarded', tenant = ''): Promise<Job> {
    const { events, jobs } = await this.waybill();
    const { signal } = new AbortController();
    for await (const { jobId } of events.follow({ filter: { types: [type], tenant }, signal })) {
      return jobs.get(jobId!, { tenant });
    }
    throw new Error('The log has ended.');
  }

  async jobs(): Promise<readonly Job[]> {
    return (await (await this.waybill()).jobs.list({ filter: { queues: [QUEUE] }, limit: 100 })).items;
  }
}
