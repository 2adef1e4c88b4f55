import { round } from '../result.ts';

/**
 * List prices in US dollars per million, on demand, us-east-1, without the free tier, as AWS published them from November
 * 2024 on and as they stood in November 2026: aws.amazon.com/dynamodb/pricing/on-demand and aws.amazon.com/sqs/pricing.
 */
export const PRICES = {
  writeUnits: 0.625,
  readUnits: 0.125,
  sqsRequests: 0.4,
} as const;

export const PRICES_TOLD =
  `list prices per million, on demand, us-east-1, November 2026, no free tier: ${PRICES.writeUnits} USD for write units, ` +
  `${PRICES.readUnits} for read units (aws.amazon.com/dynamodb/pricing/on-demand), ${PRICES.sqsRequests.toFixed(2)} for ` +
  'SQS requests (aws.amazon.com/sqs/pricing)';

/** What one step takes of AWS. */
export interface Units {
  write: number;
  read: number;
  sqs: number;
}

/** Dollars for a million times this. */
export const perMillion = ({ write, read, sqs }: Units): number =>
  write * PRICES.writeUnits + read * PRICES.readUnits + sqs * PRICES.sqsRequests;

const HOURS_A_MONTH = 730;

export const perMonth = (hour: Units): number => (perMillion(hour) * HOURS_A_MONTH) / 1e6;

export const sumOf = (all: readonly Units[]): Units =>
  all.reduce((a, b) => ({
    ...{ write: round(a.write + b.write, 4), read: round(a.read + b.read, 4), sqs: round(a.sqs + b.sqs, 4) },
  }));
