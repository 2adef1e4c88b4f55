import type { AgentDefinition } from '../../agent-definition.ts';
import { folder } from './remote.ts';
import { type Opened, type OpenOptions, openIn } from './repo-runs.ts';

/** Opens the repository of a run, whose output goes when the test ends. */
export const open = (definition: Partial<AgentDefinition>, options?: OpenOptions): Promise<Opened> =>
  openIn(folder(), definition, options);
