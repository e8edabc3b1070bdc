/** Checks before a restore whether the gateway's SECRET_KEY opens the secrets of a backup. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSecretKeyId, sealedWith } from '../../lib/secrets/secrets.ts'
import { DatabaseProblem } from '../problem.ts'
import { SEALED } from '../sealed-store.ts'
import { type Manifest, SECRET_KEY_FILE } from './backup-manifest.ts'
import { readRows } from './compare.ts'

/**
 * Throws DatabaseProblem if a secret of the backup would stay closed to a gateway with these keys.
 * Without SECRET_KEY nothing is refused, so that an operator who has lost the key can restore.
 */
export async function refuseWrongKey(
  manifest: Manifest,
  from: string,
  secretKeys: readonly string[] | undefined,
): Promise<void> {
  if (!secretKeys) return
  const closed = await describeClosed(manifest, from, secretKeys)
  if (closed === undefined) return
  throw new DatabaseProblem(
    `SECRET_KEY does not open ${closed}: nothing was changed. ` +
      (hasKey(manifest)
        ? `Set SECRET_KEY to the content of ${join(from, SECRET_KEY_FILE)}`
        : 'Set it to the SECRET_KEY of the gateways that were backed up. If that key is lost, ' +
          'run restore without SECRET_KEY, then rekey --drop-lost with a new one'),
  )
}

/** Describes the secrets that the key in a backup does not open; undefined if there are none. */
export async function describeClosedToOwnKey(
  manifest: Manifest,
  from: string,
): Promise<string | undefined> {
  if (!hasKey(manifest)) return undefined
  const key = readFileSync(join(from, SECRET_KEY_FILE), 'utf8').trim()
  return await describeClosed(manifest, from, [key])
}

function hasKey({ secret_key }: Manifest): boolean {
  return typeof secret_key === 'object'
}

async function describeClosed(manifest: Manifest, from: string, secretKeys: readonly string[]) {
  const ids = new Set(secretKeys.map(readSecretKeyId))
  const { total, closed, what } = await countClosed(manifest, from, ids)
  if (closed === 0) return undefined
  return `${closed} of the ${total} secrets in this backup (${what.join(', ')})`
}

async function countClosed(manifest: Manifest, from: string, ids: ReadonlySet<string>) {
  let total = 0
  let closed = 0
  const what = new Set<string>()
  for (const table of manifest.tables) {
    const sealed = SEALED[table.name]
    if (!sealed || table.rows === 0) continue
    const places = sealed.columns.map((column) => table.columns.indexOf(column))
    for await (const { fields } of readRows(from, table)) {
      for (const place of places) {
        const value = fields[place]
        if (value === null || value === undefined) continue
        total += 1
        // PostgreSQL writes bytes as \x and hexadecimal digits.
        if (ids.has(sealedWith(Buffer.from(value.slice(2), 'hex')))) continue
        closed += 1
        what.add(sealed.what)
      }
    }
  }
  return { total, closed, what: [...what] }
}
