import type { Command } from '../command.ts';
import { audit } from './audit.ts';
import { budgetsList } from './budgets-list.ts';
import { budgetsSet } from './budgets-set.ts';
import { budgetsRemove, budgetsShow } from './budgets-show.ts';
import { cloud } from './cloud.ts';
import { configCheck } from './config-check.ts';
import { configShow } from './config-show.ts';
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
import { exec } from './exec.ts';
import { explain } from './explain.ts';
import { health } from './health.ts';
import { healthTestFire } from './health-test-fire.ts';
import { jobsCancel } from './jobs-cancel.ts';
import { jobsList } from './jobs-list.ts';
import { jobsRetry } from './jobs-retry.ts';
import { jobsShow } from './jobs-show.ts';
import { keysCreate } from './keys-create.ts';
import { keysList } from './keys-list.ts';
import { keysRevoke } from './keys-revoke.ts';
import { keysRotate } from './keys-rotate.ts';
import { keysRotateTokens } from './keys-rotate-tokens.ts';
import { keysShow } from './keys-show.ts';
import { logs } from './logs.ts';
import { migrate } from './migrate.ts';
import { outboxShow } from './outbox-show.ts';
import { questionsAnswer } from './questions-answer.ts';
import { questionsList } from './questions-list.ts';
import { questionsShow } from './questions-show.ts';
import { queuesKeep } from './queues-keep.ts';
import { queuesList } from './queues-list.ts';
import { queuesPause, queuesResume } from './queues-pause.ts';
import { queuesShow } from './queues-show.ts';
import { serve } from './serve.ts';
import { tail } from './tail.ts';
import { tenantsLimit } from './tenants-limit.ts';
import { tenantsList } from './tenants-list.ts';
import { tenantsShow } from './tenants-show.ts';
import { webhooksPause, webhooksRemove, webhooksResume, webhooksRotateSecret } from './webhooks-change.ts';
import { webhooksCreate } from './webhooks-create.ts';
import { webhooksList } from './webhooks-list.ts';
import { webhooksRedeliver, webhooksTest } from './webhooks-send.ts';
import { webhooksShow } from './webhooks-show.ts';
import { work } from './work.ts';
import { workflowsApprove, workflowsRevise, workflowsSignal } from './workflows-approve.ts';
import { workflowsCancel, workflowsResume } from './workflows-cancel.ts';
import { workflowsList } from './workflows-list.ts';
import { workflowsShow } from './workflows-show.ts';
import { workflowsSubmit } from './workflows-submit.ts';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...[serve, dev, work, cloud, configCheck, configShow],
  ...[enqueue, exec, jobsList, jobsShow, explain, logs, jobsCancel, jobsRetry, outboxShow],
  ...[questionsList, questionsShow, questionsAnswer],
  ...[queuesList, queuesShow, queuesPause, queuesResume, queuesKeep],
  ...[deadList, deadReplay, deadDiscard, tail],
  ...[cronList, cronAdd, cronPause, cronResume, cronRemove],
  ...[workflowsList, workflowsSubmit, workflowsShow, workflowsCancel, workflowsResume],
  ...[workflowsApprove, workflowsRevise, workflowsSignal],
  ...[keysList, keysCreate, keysShow, keysRotate, keysRevoke, keysRotateTokens],
  ...[tenantsList, tenantsShow, tenantsLimit],
  ...[budgetsList, budgetsSet, budgetsShow, budgetsRemove],
  ...[webhooksList, webhooksCreate, webhooksShow, webhooksTest, webhooksRedeliver],
  ...[webhooksPause, webhooksResume, webhooksRotateSecret, webhooksRemove],
  ...[audit, doctor, health, healthTestFire, migrate],
];
