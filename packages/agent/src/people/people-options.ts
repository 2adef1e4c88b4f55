import { checkNames, WaybillError } from '@waybill/core';

export interface AskHumanOptions {
  /** Tells the model when to ask. @defaultValue a short text of ours */
  description?: string;
  /** How long an answer is waited for. @defaultValue 7 days */
  expiresInMs?: number;
}

/** What of a definition is about people. */
export interface PeopleDefinition {
  /**
   * Offers the agent a tool to ask a person. The run then ends, and the job sleeps without a worker; with the answer its next run
   * goes on with the same session. See docs/questions.md. @defaultValue false
   */
  askHuman?: boolean | AskHumanOptions;
  /**
   * Tools whose calls a person must approve, one by one: 'Write', 'mcp__crm__delete', 'mcp__crm' for all tools of a server,
   * 'Bash', or 'Bash(rm:*)' for commands that name `rm` anywhere. @defaultValue none
   */
  approve?: readonly string[];
}

/** Every name of them. */
export const PEOPLE_NAMES: Readonly<Record<keyof PeopleDefinition, true>> = { askHuman: true, approve: true };

/** Whether a call needs the approval of a person. */
export type ApprovalRule = (tool: string, input: unknown) => boolean;

const RULE = /^([A-Za-z][\w-]*)(?:\((.+?)(?::\*)?\))?$/s;

export function checkPeople(definition: PeopleDefinition & { tools: readonly string[] }, owner: string): void {
  const { askHuman, approve } = definition;
  if (askHuman !== undefined && typeof askHuman !== 'boolean') {
    checkNames(`${owner}: 'askHuman'`, askHuman, ['description', 'expiresInMs']);
    const { description } = askHuman;
    if (description !== undefined && (typeof description !== 'string' || description.trim() === ''))
      throw mistake(owner, 'askHuman.description', 'must be a text that is not empty');
  }
  if (approve === undefined) return;
  if (!Array.isArray(approve) || !approve.every((rule) => typeof rule === 'string'))
    throw mistake(owner, 'approve', "must be a list of tools, such as ['Write', 'Bash(rm:*)']");
  const offered = definition.tools.map((tool) => tool.replace(/\(.*$/s, ''));
  for (const rule of approve) {
    const [, tool = '', command] = RULE.exec(rule) ?? [];
    if (tool === '') throw mistake(owner, 'approve', `has '${rule}', which is not the name of a tool`);
    if (command !== undefined && tool !== 'Bash')
      throw mistake(
        owner,
        'approve',
        `has '${rule}', and only Bash takes a command. Use '${tool}' for all of its calls`,
      );
    const isOffered = offered.some((one) => one === tool || one.startsWith(`${tool}__`) || tool.startsWith(`${one}__`));
    if (!isOffered) throw mistake(owner, 'approve', `has '${rule}', and 'tools' does not offer '${tool}'`);
  }
}

/** The rules of a definition that has passed the checks. */
export const approvalRules = (approve: readonly string[]): ApprovalRule[] => approve.map(ruleOf);

function ruleOf(rule: string): ApprovalRule {
  const [, tool = '', command] = RULE.exec(rule)!;
  if (command === undefined) return (name) => name === tool || name.startsWith(`${tool}__`);
  const words = command.trim().split(/\s+/).map(escaped).join('\\s+');
  // Anywhere in the line: behind `cd x &&`, `sudo`, `xargs` or a path it is the same program.
  const named = new RegExp(`(^|[^\\w.-])${words}($|[^\\w-])`);
  return (name, input) => name === 'Bash' && named.test(String((input as { command?: unknown } | null)?.command ?? ''));
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const mistake = (owner: string, field: string, problem: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${field}' ${problem}.`, { details: { field } });
