/** The library on a database and a folder of its own, with an origin to copy from. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createLog } from '../../server/api/app/log.ts'
import { createGuard } from '../../server/base/outbound/guard.ts'
import { type Copier, startCopier } from '../../server/work/assets/copies/copier.ts'
import { COPY_LIMITS, type CopyLimits } from '../../server/work/assets/copies/copy-schedule.ts'
import type { FinishedTask } from '../../server/work/assets/library/collect-assets.ts'
import {
  addToLibrary,
  createLibrary,
  type Library,
} from '../../server/work/assets/library/library.ts'
import { createQuota } from '../../server/work/assets/quota.ts'
import { type Blobs, createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { createDiskStorage } from '../../server/work/assets/storage/disk-storage.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const log = createLog({ level: 'silent', format: 'json' })

/** Attempts follow each other soon; no lease ends on a busy machine that the test does not end. */
const QUICK: CopyLimits = {
  ...COPY_LIMITS,
  leaseMs: 60_000,
  headMs: 20_000,
  idleMs: 2_000,
  waitMsMin: 20,
  waitMsMax: 200,
}

export interface Shelf {
  readonly sql: Sql
  readonly library: Library
  readonly blobs: Blobs
  /** Returns the names of all stored files. */
  stored(): string[]
  /** Adds the results of an ended task to the library. */
  succeed(task: Partial<FinishedTask>): Promise<void>
  readonly copiers: readonly Copier[]
  copy(options?: { limits?: Partial<CopyLimits>; bytesMax?: number }): Copier
  row(taskId: string): Promise<CopyRow>
  untilState(taskId: string, state: string): Promise<CopyRow>
  stop(): Promise<void>
}

interface CopyRow {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly attempts: number
  readonly failure: string | null
  readonly storage_key: string | null
  readonly width: number | null
  readonly bytes: bigint | null
  readonly original_id: string | null
  readonly prompt: string | null
}

export async function openShelf(
  options: { readonly keepsFiles?: () => boolean } = {},
): Promise<Shelf> {
  const database = await createTestDatabase()
  const { sql } = database
  const folder = mkdtempSync(join(tmpdir(), 'shelf-'))
  const storage = createDiskStorage(folder)
  const blobs = createBlobs({ sql, storage, log, ...options })
  const guard = createGuard({ policy: () => ({ allowance: 'loopback', ports: new Set([80]) }) })
  const copiers: Copier[] = []

  async function row(taskId: string): Promise<CopyRow> {
    const [found] = await sql<CopyRow[]>`
      select id, kind, state, attempts, failure, storage_key, width, bytes, original_id, prompt
      from asset where task_id = ${taskId} order by position limit 1`
    if (!found) throw new Error(`no asset of ${taskId}`)
    return found
  }

  return {
    sql,
    blobs,
    copiers,
    library: createLibrary({ sql, blobs, publicUrl: 'https://gateway.example' }),
    row,
    stored: () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 3),
    async succeed(task) {
      const whole = { account_id: 'acct_a', request_id: 'req_a', model: 'm', request: {} }
      const finished = { ...whole, id: 'task_a', kind: 'video', result: null, ...task }
      await sql.begin((transaction) => addToLibrary(transaction, finished))
    },
    copy({ limits = {}, bytesMax = 1_000_000_000 } = {}) {
      const quota = createQuota(sql, bytesMax)
      const options = { sql, blobs, quota, guard, log, limits: { ...QUICK, ...limits } }
      const copier = startCopier(options)
      copiers.push(copier)
      return copier
    },
    untilState: (taskId, state) =>
      until(`a copy that is ${state}`, async () => {
        const found = await row(taskId)
        return found.state === state ? found : undefined
      }),
    async stop() {
      await Promise.all(copiers.map((copier) => copier.stop()))
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
