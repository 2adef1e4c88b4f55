import { AGENT_CONSUMER_MUTANTS } from './agent-consumer.mjs';
import { AGENT_REPOSITORY_MUTANTS } from './agent-repositories.mjs';
import { AWS_MUTANTS } from './aws.mjs';
import { BUDGET_MUTANTS } from './budgets.mjs';
import { CLIENT_MUTANTS } from './clients.mjs';
import { CONFIG_MUTANTS } from './config.mjs';
import { EDGE_MUTANTS } from './edges.mjs';
import { ENGINE_MUTANTS } from './engine.mjs';
import { ERROR_CLASS_MUTANTS } from './error-class.mjs';
import { ISOLATE_MUTANTS } from './isolate.mjs';
import { JOURNAL_HTTP_MUTANTS } from './journal-http.mjs';
import { MEMORY_MUTANTS } from './memory.mjs';
import { QUESTION_MUTANTS } from './questions.mjs';
import { RULES_MUTANTS } from './rules.mjs';
import { SINK_MUTANTS } from './sinks.mjs';
import { SQL_MUTANTS } from './sql.mjs';
import { TELEMETRY_MUTANTS } from './telemetry.mjs';
import { WORKER_JOURNAL_MUTANTS } from './worker-journal.mjs';

/**
 * The guards that are removed one at a time. `replace` must be in `file` exactly once, and `by` stands for it in the copy.
 * `test` with a title that `title` matches must then fail by an assertion or a refusal. `build`: the test runs what was
 * built (`dist`), because it starts a process or is in another package.
 */
export const MUTANTS = [
  ...AGENT_REPOSITORY_MUTANTS,
  ...AGENT_CONSUMER_MUTANTS,
  ...AWS_MUTANTS,
  ...CONFIG_MUTANTS,
  ...RULES_MUTANTS,
  ...ENGINE_MUTANTS,
  ...BUDGET_MUTANTS,
  ...MEMORY_MUTANTS,
  ...SQL_MUTANTS,
  ...CLIENT_MUTANTS,
  ...EDGE_MUTANTS,
  ...ERROR_CLASS_MUTANTS,
  ...ISOLATE_MUTANTS,
  ...JOURNAL_HTTP_MUTANTS,
  ...QUESTION_MUTANTS,
  ...SINK_MUTANTS,
  ...TELEMETRY_MUTANTS,
  ...WORKER_JOURNAL_MUTANTS,
];
