// What callers of the HTTP API need.

export { auditToWire, type WireAudit } from './audit-wire.ts';
export type { WireBudget, WireNewBudget, WireSpending } from './budget-wire.ts';
export type { WireFinding, WireHealthReport, WireJobHealth } from './check-wire.ts';
export type { WireCron } from './cron-wire.ts';
export { ERROR_TABLE, type ErrorFacts, errorFromWire, type RpcCode, type WireError } from './error-wire.ts';
export type { WireEvent } from './event-wire.ts';
export type { WireExplanation, WireReason, WireRelatedJob } from './explanation-wire.ts';
export { jobFromWire } from './job-from-wire.ts';
export type { WireJob, WireJobError } from './job-wire.ts';
export type { WireAppended, WireEntry, WireJournalPage, WireNewEntry } from './journal-wire.ts';
export type { WireKey, WireKeyRequest, WireKeyWithSecret } from './key-wire.ts';
export type { WireLimit, WireLimitRule } from './limit-wire.ts';
export type { WireProgress } from './progress-wire.ts';
export type { WireAnswer, WireQuestion } from './question-wire.ts';
export type { WireQueue, WireQueueCounts, WireQueueStats } from './queue-wire.ts';
export type { WireTenant, WireTenantLimits, WireTenantStats } from './tenant-info-wire.ts';
export { TENANT_HEADER } from './tenant-wire.ts';
export type { WireWebhook, WireWebhookRequest, WireWebhookState, WireWebhookTest } from './webhook-wire.ts';
export type { WireWorker } from './worker-wire.ts';
export type { WireWorkflowNode } from './workflow-node-wire.ts';
export type { WireWorkflow, WireWorkflowMetadata } from './workflow-wire.ts';

// What servers need to speak it.

export { budgetToWire } from './budget-wire.ts';
export { healthReportToWire, jobHealthToWire } from './check-wire.ts';
export { cronJobToWire, type WireCronJob } from './cron-job-wire.ts';
export { cronToWire } from './cron-wire.ts';
export { ERRORS_PATH, type ErrorMeaning, errorToWire } from './error-wire.ts';
export { eventToWire } from './event-wire.ts';
export { explanationToWire } from './explanation-wire.ts';
export { classIn, jobToWire, leaseToWire, type RunFacts } from './job-wire.ts';
export { entryToWire, JOURNAL_MESSAGES, NEW_ENTRY_NAMES, outputFromWire } from './journal-wire.ts';
export { keyToWire } from './key-wire.ts';
export { limitRuleToWire, limitToWire } from './limit-wire.ts';
export { progressToWire } from './progress-wire.ts';
export { questionToWire } from './question-wire.ts';
export { queueCounts, queueToWire } from './queue-wire.ts';
export { revisionToWire } from './rules-wire.ts';
export { skippedToWire } from './skipped-wire.ts';
export { tenantFromPath, tenantStatsToWire, tenantToPath, tenantToWire } from './tenant-info-wire.ts';
export { toRfc3339 } from './time.ts';
export { workerToWire } from './worker-wire.ts';
export { workflowNodeToWire } from './workflow-node-wire.ts';
export { type WireWorkflowStep, type WireWorkflowWithSteps, workflowWithSteps } from './workflow-steps-wire.ts';
export { workflowToWire } from './workflow-wire.ts';
