/** Short-lived keys with which the console's playground calls the public API. */
import type { Sql } from 'postgres'
import { newId } from '../../base/lib/ids.ts'
import { createApiKey, displayApiKey, hashApiKey } from '../../base/lib/secrets/api-key.ts'
import { type PlaygroundKey, renewPlaygroundKey } from './playground-store.ts'

const LIFE_SECONDS = 3600
const AT_ONCE = 5

/** The key ends with its creator's membership. Resolves to undefined if there is no account. */
export async function createPlaygroundKey(
  sql: Sql,
  accountId: string,
  createdBy: string,
): Promise<(PlaygroundKey & { readonly key: string }) | undefined> {
  const key = createApiKey()
  const row = await renewPlaygroundKey(sql, {
    accountId,
    createdBy,
    id: newId('key'),
    hash: hashApiKey(key),
    display: displayApiKey(key),
    lifeSeconds: LIFE_SECONDS,
    atOnce: AT_ONCE,
  })
  return row && { ...row, key }
}
