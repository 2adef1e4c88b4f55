import { WaybillError } from '@waybill/core';
import { mergedHooks } from '../query/merged-hooks.ts';
import type { AgentExtension, AgentOutside } from '../run/outside.ts';
import { People, type PeopleParts } from './people.ts';
import type { PeopleDefinition } from './people-options.ts';

/** The surroundings of a run whose agent may ask people; as they are where it asks nobody. */
export async function withPeople(outside: AgentOutside, parts: PeopleParts): Promise<AgentOutside> {
  if (!asksPeople(parts.definition)) return outside;
  const people = await People.open(parts);
  return { ...outside, extension: outside.extension ? both(people, outside.extension) : people };
}

export const asksPeople = ({ askHuman = false, approve = [] }: PeopleDefinition): boolean =>
  askHuman !== false || approve.length > 0;

/** Without its session an agent would ask the same for ever. */
export const placeNeeded = (name: string): WaybillError =>
  new WaybillError('unsupported', `Agent task '${name}' asks people, and the worker keeps no files of jobs.`, {
    hint: "Give the connection a place for large payloads: a folder or a bucket, as its option 'blobs'.",
  });

function both(people: People, other: AgentExtension): AgentExtension {
  const resumePrompt = people.resumePrompt ?? other.resumePrompt;
  return {
    hooks: mergedHooks(people.hooks, other.hooks),
    mcpServers: (sdk) => ({ ...people.mcpServers?.(sdk), ...other.mcpServers?.(sdk) }),
    tools: [...people.tools, ...(other.tools ?? [])],
    ...(resumePrompt !== undefined && { resumePrompt }),
    ofTask: people.ofTask,
    paused: async (result) => (await people.paused()) ?? (await other.paused?.(result)) ?? null,
  };
}
