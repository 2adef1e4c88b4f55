import type { Questions } from '@waybill/core';
import { questionFromWire, type WireQuestion } from '../question-wire.ts';
import { path } from './address.ts';
import type { Calls } from './calls.ts';

export const QUESTIONS = '/waybill/v1/questions';

interface WirePage {
  questions: WireQuestion[];
  pagination: { cursor?: string };
}

export function questions(calls: Calls): Questions {
  return {
    list: async (query = {}) => {
      const tenant = calls.tenantOf(query);
      const { status, jobId: job_id, idPrefix: id_prefix, limit, cursor } = query;
      const options = { tenant, query: { status, job_id, id_prefix, limit, cursor } };
      const page = await calls.call<WirePage>('GET', QUESTIONS, options);
      const next = page.pagination.cursor;
      const items = page.questions.map((wire) => questionFromWire(wire, calls.whose(tenant)));
      return { items, ...(next !== undefined && { cursor: next }) };
    },
    get: async (id, context) => {
      const tenant = calls.tenantOf(context);
      const answer = await calls.call<{ question: WireQuestion }>('GET', path`/waybill/v1/questions/${id}`, { tenant });
      return questionFromWire(answer.question, calls.whose(tenant));
    },
    answer: async (id, given, { by, ...context } = {}) => {
      const tenant = calls.tenantOf(context);
      const options = { tenant, body: { ...given, ...(by !== undefined && { by }) } };
      const where = path`/waybill/v1/questions/${id}/answer`;
      const { question } = await calls.call<{ question: WireQuestion }>('POST', where, options);
      return questionFromWire(question, calls.whose(tenant));
    },
  };
}
