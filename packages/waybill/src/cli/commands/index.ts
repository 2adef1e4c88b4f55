import type { Command } from '../command.ts';
import { cloud } from './cloud.ts';
import { cronAdd } from './cron-add.ts';
import { cronList } from './cron-list.ts';
import { cronPause, cronResume } from './cron-pause.ts';
import { cronRemove } from './cron-remove.ts';
import { deadDiscard } from './dead-discard.ts';
import { deadList } from './dead-list.ts';
import { deadReplay } from './dead-replay.ts';
import { dev } from './dev.ts';
import { doctor } from './doctor.ts';
import { enqueue } from './enqueue.ts';
import { jobsCancel } from './jobs-cancel.ts';
import { jobsList } from './jobs-list.ts';
import { jobsRetry } from './jobs-retry.ts';
import { jobsShow } from './jobs-show.ts';
import { migrate } from './migrate.ts';
import { queuesKeep } from './queues-keep.ts';
import { queuesList } from './queues-list.ts';
import { queuesPause, queuesResume } from './queues-pause.ts';
import { queuesShow } from './queues-show.ts';
import { serve } from './serve.ts';
import { tail } from './tail.ts';
import { work } from './work.ts';
import { workflowsCancel, workflowsResume } from './workflows-cancel.ts';
import { workflowsList } from './workflows-list.ts';
import { workflowsShow } from './workflows-show.ts';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...[serve, dev, work, cloud],
  ...[enqueue, jobsList, jobsShow, jobsCancel, jobsRetry],
  ...[queuesList, queuesShow, queuesPause, queuesResume, queuesKeep],
  ...[deadList, deadReplay, deadDiscard, tail],
  ...[cronList, cronAdd, cronPause, cronResume, cronRemove],
  ...[workflowsList, workflowsShow, workflowsCancel, workflowsResume],
  ...[doctor, migrate],
];
