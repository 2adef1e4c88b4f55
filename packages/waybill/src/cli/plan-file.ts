import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { WaybillError, type WorkflowProblem, workflowProblems } from '@waybill/core';
import { type ParsedDocument, parseJson, parseYaml } from '../config/parse-document.ts';
import type { Io } from './io.ts';

/** As large as a request may be where large payloads have a place of their own. */
const MOST_BYTES = 32 * 1_048_576;
const STDIN = '-';

export interface PlanProblem extends WorkflowProblem {
  line: number;
}

export interface Plan {
  /** As it is called in messages. */
  name: string;
  request: unknown;
  /** Everything that is wrong with it, in the order of the file. */
  problems: PlanProblem[];
}

/** A workflow that a person has written: YAML or JSON, in a file or on stdin. */
export async function readPlan(file: string, io: Pick<Io, 'input' | 'now'>): Promise<Plan> {
  const name = file === STDIN ? 'stdin' : path.basename(file);
  const { value, lineOf } = await documentIn(file, name, io);
  const problems = workflowProblems(value, io.now()).map((problem) => ({ ...problem, line: lineOf(problem.path) }));
  return { name, request: value, problems: problems.sort((a, b) => a.line - b.line) };
}

async function documentIn(file: string, name: string, io: Pick<Io, 'input'>): Promise<ParsedDocument> {
  if (file === STDIN) return parseYaml(fitting(await io.input(), name), name, refused);
  const ending = path.extname(file).toLowerCase();
  if (!['.yaml', '.yml', '.json'].includes(ending))
    throw refused(`${name} has an unknown ending: use .yaml, .yml or .json.`);
  const source = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw refused(`Could not read ${name}: ${cause.code ?? 'unknown error'}.`);
  });
  fitting(source, name);
  if (ending !== '.json') return parseYaml(source, name, refused);
  const value = parseJson(source, name, refused);
  // JSON is YAML too, but for rare cases; then the lines are not known.
  const lined = await parseYaml(source, name, refused).catch(() => undefined);
  return { value, lineOf: lined?.lineOf ?? (() => 1) };
}

function fitting(source: string, name: string): string {
  if (Buffer.byteLength(source) <= MOST_BYTES) return source;
  throw refused(`${name} is larger than 32 MiB, so it cannot be a workflow.`);
}

const refused = (message: string): WaybillError =>
  new WaybillError('invalid_request', message, { hint: 'docs/workflows.md shows what a workflow looks like.' });

/** `nodes[2].depends_on[0]` */
export const placeText = (steps: WorkflowProblem['path']): string =>
  steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
