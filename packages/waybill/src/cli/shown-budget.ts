import type { BudgetInfo } from '@waybill/core';

/** Without the digits of a fraction that nobody set. */
export const amount = (value: number): string => String(Number(value.toPrecision(10)));

export const budgetLine = ({ id, limit, unit, spent, left }: BudgetInfo): string =>
  `${id} allows ${amount(limit)} ${unit}; ${amount(spent)} spent, ${amount(left)} left\n`;
