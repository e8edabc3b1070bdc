// Ids that are unique across restarts, cheap to create, and equal for every answer if a scenario
// requests duplicates.
import { randomBytes } from 'node:crypto'
import type { Exchange } from './exchange.ts'

const run = randomBytes(5).toString('hex')
let counter = 0

export function nextId(): string {
  counter += 1
  return `${run}${counter.toString(36).padStart(8, '0')}`
}

/** Returns the id of an answer, e.g. `chatcmpl-…`. */
export function answerId(exchange: Exchange, prefix: string): string {
  return exchange.scenario.has('duplicate-id') ? `${prefix}duplicate0001` : prefix + nextId()
}
