/** The charges that an answer states: in its header, and beside its usage. */
import type { IncomingHttpHeaders } from 'node:http'

/** Amounts in nano-units. */
export interface StatedCharges {
  readonly header: bigint | undefined
  readonly body: readonly bigint[]
  /** Usage in its place at an end, without a cost. */
  readonly withoutCost: number
}

export const NONE_STATED: StatedCharges = { header: undefined, body: [], withoutCost: 0 }

export function readStatedCharges(headers: IncomingHttpHeaders, text: string): StatedCharges {
  const [amount] = String(headers['x-tributary-charge'] ?? '').split(' ')
  const header = amount ? toNanos(amount) : undefined
  const costs = listDocuments(text).flatMap(readCost)
  const body = costs.filter((cost) => cost !== undefined)
  return { header, body, withoutCost: costs.length - body.length }
}

/** Returns the document, or those of the events of a stream. */
function listDocuments(text: string): unknown[] {
  const parts = text.startsWith('{') ? [text] : text.split(/\r\n|\r|\n/)
  return parts.flatMap((part) => {
    const json = part.startsWith('data:') ? part.slice('data:'.length) : part
    try {
      return [JSON.parse(json)]
    } catch {
      return []
    }
  })
}

function readCost(document: unknown): (bigint | undefined)[] {
  const { usage, response } = isRecord(document) ? document : {}
  const found = isRecord(usage) ? usage : isRecord(response) ? response.usage : undefined
  if (!isRecord(found)) return []
  if (found.cost === undefined) return mayGoOn(document) ? [] : [undefined]
  return [typeof found.cost === 'number' ? toNanos(found.cost.toFixed(9)) : -1n]
}

/** Usage so far, which some vendors state in every chunk, need not have the cost. */
function mayGoOn(document: unknown): boolean {
  const choices = isRecord(document) && Array.isArray(document.choices) ? document.choices : []
  return choices.some((choice) => isRecord(choice) && typeof choice.finish_reason !== 'string')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function toNanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}
