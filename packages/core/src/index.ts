// What users of the engine need.

export type { AuditEntry } from './access/audit/audit-entry.ts';
export { audited, type DoneCall, type TellDone, writtenDown } from './access/audit/audited.ts';
export { AUDIT_TYPES, type AuditQuery, auditMatches, readAudit } from './access/audit/read-audit.ts';
export type { ApiKey, KeyHolder, KeyRequest, StoredKey } from './access/keys/key.ts';
export { checkKeyRequest, holderOf } from './access/keys/key.ts';
export { KeyCache } from './access/keys/key-cache.ts';
export { hashOf as hashOfSecret, isSameHash, keyIdIn, newKeyId, newSecret } from './access/keys/key-secret.ts';
export type { Sessions } from './access/keys/session-store.ts';
export { checkPrincipal, isSamePrincipal, type Principal, SCOPES, type Scope } from './access/principal.ts';
export { inTenant, scoped } from './access/scoped.ts';
export { checkTenant } from './access/tenant.ts';
export { BUDGET_PERIODS } from './budgets/budgets-port.ts';
export { type Clock, systemClock } from './clock.ts';
export { type Engine, engine } from './engine.ts';
export type { JobOptions, JobRequest } from './enqueue/envelope.ts';
export type { UniqueOptions } from './enqueue/unique.ts';
export { classifyError } from './error-class/classify-error.ts';
export { classifyOutput } from './error-class/classify-output.ts';
export type { ClassifiedError, DecidedBy, ErrorClass } from './error-class/error-class.ts';
export { ERROR_CODES, type ErrorCode, WaybillError } from './errors.ts';
export {
  EVENT_TYPES,
  type EventType,
  isJobEvent,
  JOB_EVENT_TYPES,
  type JobEvent,
  type JobEventType,
  type LogEvent,
  type LoggedEvent,
  RUN_END_EVENT_TYPES,
  TERMINAL_EVENT_TYPES,
} from './events/job-event.ts';
export * from './events/subject-event.ts';
export { REASON_CODES, type ReasonCode } from './explain/codes.ts';
export { ALARMS, CHECK_NAMES } from './health/checks-port.ts';
export { checkHealthOptions, type HealthOptions, type JobLevels, type Levels } from './health/health-options.ts';
export * from './health/incidents/incident.ts';
export { MAX_FEEDBACK, MAX_ITERATIONS } from './job/gate.ts';
export { heartbeatEvent } from './job/heartbeat-event.ts';
export {
  isFinished,
  JOB_STATES,
  type Job,
  type JobError,
  type JobSpec,
  type JobState,
  lastError,
  type OutcomeKind,
} from './job/job.ts';
export type { Comparison, Condition, GateRule, IfSkipped, MapRule, NodeRules, Revision } from './job/node-rules.ts';
export { type ErrorInput, type Outcome, UNKNOWN_TYPE } from './job/outcome.ts';
export { type RetryOptions, type RetryPolicy, resolveRetry } from './job/retry-policy.ts';
export { wantedByFollower as checkFollowQuery, wantedByReader as checkJournalQuery } from './journal/check-query.ts';
export * from './journal/entry.ts';
export { precedesEntry } from './journal/follow-job.ts';
export { LOSS_TYPES, MISSED_OUTPUT, outputLoss } from './journal/losses.ts';
export type { Json, JsonObject } from './json.ts';
export type { LimitOptions, RateOptions } from './limits/limit-options.ts';
export { checkLogger, LOG_LEVELS, type Logger, type LogLevel, silentLogger } from './logger.ts';
export type { FailingItem } from './maintenance/failing-items.ts';
export type { PassOptions, PassReport } from './maintenance/maintenance.ts';
export type { Upkeep } from './maintenance/upkeep.ts';
export type { EngineObserver } from './observer.ts';
export type { EngineOptions, RetentionOptions } from './options.ts';
export { Places } from './places.ts';
export { QUESTION_STATUSES } from './questions/questions-port.ts';
export { Roster } from './roster.ts';
export { withoutSecrets } from './secret-text.ts';
export { shownFile } from './shown-file.ts';
export { eventIdOf } from './sinks/event-id.ts';
export * from './sinks/sink.ts';
export { lineLogger, stderrLogger } from './stderr-logger.ts';
export type * from './waybill.ts';
export { conditionText } from './workflow/condition-text.ts';
export { type DrawnNode, type DrawnWorkflow, workflowToDot, workflowToMermaid } from './workflow/graph-text.ts';
export { mapOf, placeOf } from './workflow/item-names.ts';
export { PARENT_NAMES } from './workflow/node-shape.ts';
export { type WorkflowProblem, workflowProblems } from './workflow/problems.ts';

// What stores, transports and servers are built from.

export type * from './blobs/blob-store.ts';
export { folderBlobStore } from './blobs/folder-blob-store.ts';
export type { BlobOptions } from './blobs/offloaded-store.ts';
export { folderOf as blobFolderOf } from './blobs/reference.ts';
export { checkJson, checkNames, checkPrintable, Fields, isObject } from './check.ts';
export { closest, didYouMean } from './closest.ts';
export { type ApartOptions, apart } from './commit/apart.ts';
export { GroupCommit, type GroupCommitOptions } from './commit/group-commit.ts';
export { parseDuration } from './duration.ts';
export { checkQueue, ENVELOPE_NAMES, MANAGED_NAMES, OPTION_NAMES } from './enqueue/envelope.ts';
export { isInTheWay, UNIQUE_NAMES, type UniqueRule } from './enqueue/unique.ts';
export { invalidField } from './errors.ts';
export type { Transition } from './job/evolve.ts';
export { failureLine } from './job/failure-line.ts';
export { isJobId, newJobId } from './job/id.ts';
export { checkIdPrefix, idRange, isIdPrefix } from './job/id-prefix.ts';
export { formatToken, hasTokenForm, type LeaseToken, parseToken, tokenOf } from './job/lease.ts';
export { fenceAdmits, type Progress, progressAfter, type Report, type RunFence } from './job/progress.ts';
export { LATEST_MOMENT, rankFor, rankOf, sequence } from './job/rank.ts';
export { RETRY_FIELDS, RETRY_NAMES } from './job/retry-policy.ts';
export { type Command, transition } from './job/transition.ts';
export { pack as packEntries, unpack as unpackEntries } from './journal/codec.ts';
export {
  admitted,
  claimed,
  freeSlots,
  type LimitRule,
  type LimitUse,
  nextAdmission,
  nextLook,
  UNUSED,
} from './limits/limit.ts';
export { checkLimitRule, LIMIT_NAMES, RATE_NAMES, ruleInSpec } from './limits/limit-options.ts';
export { startsIn, type Window, withStarts } from './limits/window.ts';
export { isDay, parseMoment } from './moment.ts';
export { checkNodeVersion } from './node-version.ts';
export { isMissing, loadOptional } from './optional-package.ts';
export { UNCONFIRMED_MS } from './questions/questions.ts';
export type * from './store/apply.ts';
export * from './store/claim.ts';
export {
  type CronRecord,
  type CronStore,
  cronReplacing,
  type EnableRequest,
  type FireAnswer,
  type FireRequest,
  MISFIRE_POLICIES,
  type MisfirePolicy,
  OVERLAP_POLICIES,
  type OverlapPolicy,
} from './store/crons.ts';
export * from './store/event-log.ts';
export type * from './store/extend.ts';
export { eventMatches, jobMatches, queueOf } from './store/filters.ts';
export {
  type Edge,
  type InsertAnswer,
  type InsertGroup,
  type NewJob,
  type Stored,
  storedBy,
  type TakenKey,
  takenAnswer,
  type UniqueClaim,
} from './store/insert.ts';
export * from './store/journal.ts';
export type * from './store/limits.ts';
export { isLockHeld, LOCK_HELD, type WriteOptions } from './store/lock-held.ts';
export {
  type LockRow,
  type LockStore,
  type LockTable,
  lockStore,
  type ReleaseRequest,
  type TakeAnswer,
  type TakeRequest,
  taken,
} from './store/locks.ts';
export type * from './store/prune.ts';
export { PruneSlice, USE_NOTED_EVERY_MS } from './store/prune-slice.ts';
export type * from './store/query.ts';
export {
  isForgotten,
  QUEUE_KEEPS,
  type QueueInfo,
  type QueueKeep,
  type QueueStats,
  type QueueStore,
  type TenantQuery,
} from './store/queues.ts';
export {
  EXPIRED_KEPT_MS,
  isLive,
  nextVersion,
  type RecordRow,
  type RecordTable,
  type RowPage,
  type RowPut,
  type RowPutAnswer,
  type RowQuery,
  recordStore,
} from './store/record-table.ts';
export {
  MAX_RECORD_BYTES,
  type PutAnswer,
  type PutRecord,
  type RecordKey,
  type RecordPage,
  type RecordQuery,
  type RecordStore,
  type RemoveAnswer,
  type StoredRecord,
  SYSTEM_TENANT,
  type UnreadableRecord,
} from './store/records.ts';
export type * from './store/reports.ts';
export type * from './store/store.ts';
export type { Transaction } from './store/transaction.ts';
export { readEach, readPage, type UnreadableRow, unreadableJob } from './store/unreadable.ts';
export {
  WORKER_DIRECTIVES,
  type WorkerBeat,
  type WorkerDirective,
  type WorkerInfo,
  type WorkerStore,
} from './store/workers.ts';
export {
  WORKFLOW_STATES,
  type WorkflowReason,
  type WorkflowRecord,
  type WorkflowState,
} from './store/workflow-record.ts';
export type * from './store/workflows.ts';
export { withSignedLeases } from './task-tokens/signed-leases.ts';
export { configuredTokenKeys, type TokenKeyStore } from './task-tokens/token-keys.ts';
export { hasSignedForm, TokenSigner } from './task-tokens/token-signer.ts';
export type { TenantLimits } from './tenants/tenant-limits.ts';
export { tenantNotFound } from './tenants/tenants.ts';
export type * from './transport/aside.ts';
export { pollTransport } from './transport/poll/poll-transport.ts';
export type * from './transport/transport.ts';
