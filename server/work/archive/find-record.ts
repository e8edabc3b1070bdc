/** Reads archived calls back. */
import type { Sql } from 'postgres'
import { holdIdOf } from '../../base/lib/ids.ts'
import { selectObjects, selectObjectsOfHold } from './archive-store.ts'
import { type ReadContent, readObject } from './objects.ts'
import { type ArchivedRecord, readRecord } from './record.ts'
import { linesOfObject } from './table-text.ts'

/** Returns a call with its hold and entries, or undefined if it is not archived. */
export async function findArchived(
  sql: Sql,
  storage: ReadContent,
  requestId: string,
): Promise<ArchivedRecord | undefined> {
  const holdId = holdIdOf(requestId)
  for (const object of await selectObjectsOfHold(sql, holdId)) {
    for (const line of linesOfObject(await readObject(storage, object))) {
      if (!line.includes(`"${holdId}"`)) continue
      const record = readRecord(line)
      if (record.hold.id === holdId) return record
    }
  }
  return undefined
}

/** Yields the lines of a period's objects. */
export async function* readPeriodLines(
  sql: Sql,
  storage: ReadContent,
  name: string,
): AsyncGenerator<string> {
  for (const object of await selectObjects(sql, name)) {
    const lines = linesOfObject(await readObject(storage, object))
    yield lines.map((line) => `${line}\n`).join('')
  }
}
