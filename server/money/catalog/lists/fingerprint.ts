/**
 * Fingerprints of the sources of a list's prices: a list whose fingerprint equals the stored one
 * need not be computed again. Pure.
 */
import { createHash } from 'node:crypto'
import type { ModelRow, PlannedRow } from '../store.ts'
import type { CompiledRow } from './list-store.ts'

/** Increased when the same sources yield different prices than before. */
const DERIVATION = 1

/** Returns the fingerprint of base prices, planned ones, costs and routes. */
export function fingerprintBase(
  models: readonly ModelRow[],
  planned: readonly PlannedRow[],
): string {
  return digest([
    DERIVATION,
    models.map(({ id, free, currency, prices, price_version: version, routes }) => {
      return [id, free, currency, prices, version, routes]
    }),
    planned,
  ])
}

/** Returns the fingerprint of a list, by that of its parent or of the base prices. */
export function fingerprintList(list: CompiledRow, base: string, parent: string): string {
  const { id, currency, definition } = list
  return digest([id, currency, definition, base, parent])
}

function digest(value: unknown): string {
  const text = JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))
  return createHash('sha256').update(text).digest('base64url')
}
