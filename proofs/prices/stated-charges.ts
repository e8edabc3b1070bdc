/** The charges that an answer states: in its header, and beside its usage. */
import type { IncomingHttpHeaders } from 'node:http'

/** Amounts in nano-units. */
export function readStatedCharges(headers: IncomingHttpHeaders, text: string): bigint[] {
  const [amount] = String(headers['x-tributary-charge'] ?? '').split(' ')
  const inHeader = amount ? [toNanos(amount)] : []
  const costs = listDocuments(text).flatMap(readCost)
  return [...inHeader, ...costs]
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

function readCost(document: unknown): bigint[] {
  const { usage, response } = isRecord(document) ? document : {}
  const found = isRecord(usage) ? usage : isRecord(response) ? response.usage : undefined
  if (!isRecord(found) || found.cost === undefined) return []
  return [typeof found.cost === 'number' ? toNanos(found.cost.toFixed(9)) : -1n]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function toNanos(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}
