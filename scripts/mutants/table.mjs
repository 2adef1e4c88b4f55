import { AWS_MUTANTS } from './aws.mjs';
import { EDGE_MUTANTS } from './edges.mjs';
import { ENGINE_MUTANTS } from './engine.mjs';
import { MEMORY_MUTANTS } from './memory.mjs';
import { RULES_MUTANTS } from './rules.mjs';
import { SQL_MUTANTS } from './sql.mjs';

/**
 * The guards that are removed one at a time. `replace` must be in `file` exactly once, and `by` stands for it in the copy.
 * `test` with a title that `title` matches must then fail by an assertion or a refusal. `build`: the test runs what was
 * built (`dist`), because it starts a process or is in another package.
 */
export const MUTANTS = [
  ...AWS_MUTANTS,
  ...RULES_MUTANTS,
  ...ENGINE_MUTANTS,
  ...MEMORY_MUTANTS,
  ...SQL_MUTANTS,
  ...EDGE_MUTANTS,
];
