/** Reads all stored content, and compares it with the rows that own it. */
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import type { ContentFault } from './check-content.ts'
import {
  isStillOwned,
  type OwnedContent,
  selectOwnedContent,
  selectUnowned,
} from './content-store.ts'
import { ContentMissing, type Storage } from './storage.ts'

/** `unowned`: no row names it. `unreadable`: the storage did not answer, so nothing is known. */
export type FileFault = ContentFault | 'unowned' | 'unreadable'

export interface FoundFault {
  readonly fault: FileFault
  readonly key: string
  readonly owner?: OwnedContent['owner']
  readonly id?: string
  readonly account?: string
  /** Bytes as stored, and as read. */
  readonly stated_bytes?: number
  readonly bytes?: number
  readonly reason?: string
}

export interface VerifiedFiles {
  readonly files: number
  readonly bytes: number
  /** The number of files of which only the size is known. */
  readonly without_digest: number
  readonly faults: readonly FoundFault[]
}

export interface VerifyOptions {
  readonly sql: Sql
  readonly storage: Storage
  /** Only content of this account; content without an owner is then not looked for. */
  readonly accountId?: string | undefined
  /** Called at each page. */
  readonly onProgress?: (soFar: { readonly files: number; readonly bytes: number }) => void
  readonly onFault?: (fault: FoundFault) => void
}

const KEYS_PER_PAGE = 200

/** Rejects only if the database is unavailable, or the storage cannot be listed. */
export async function verifyFiles(options: VerifyOptions): Promise<VerifiedFiles> {
  const { sql, accountId, onProgress, onFault } = options
  const total = { files: 0, bytes: 0, without_digest: 0 }
  const faults: FoundFault[] = []
  const add = (fault: FoundFault) => {
    faults.push(fault)
    onFault?.(fault)
  }
  for (let after = ''; ; ) {
    const page = await selectOwnedContent(sql, { after, limit: KEYS_PER_PAGE, accountId })
    for (const content of page) {
      const { read, fault } = await verifyOne(options, content)
      total.files += 1
      total.bytes += read
      if (!content.sha256) total.without_digest += 1
      if (fault) add(fault)
    }
    onProgress?.(total)
    const last = page.at(-1)
    if (!last) break
    after = last.key
  }
  if (accountId === undefined) for await (const key of findUnowned(options)) add(key)
  return { ...total, faults }
}

async function verifyOne(
  { sql, storage }: VerifyOptions,
  content: OwnedContent,
): Promise<{ readonly read: number; readonly fault?: FoundFault }> {
  const { key, owner, id, account_id: account, bytes: stated, sha256 } = content
  const hash = createHash('sha256')
  let read = 0
  let fault: FileFault | undefined
  let reason: string | undefined
  try {
    for await (const chunk of await storage.read(key)) {
      read += chunk.length
      hash.update(chunk)
    }
    if (stated !== null && BigInt(read) !== stated) fault = 'cut'
    else if (sha256 && !hash.digest().equals(sha256)) fault = 'damaged'
  } catch (error) {
    fault = error instanceof ContentMissing ? 'lost' : 'unreadable'
    reason = error instanceof Error ? error.message : String(error)
  }
  // Deleted or expired since its page was read.
  if (!fault || !(await isStillOwned(sql, key))) return { read }
  const found = {
    fault,
    key,
    owner,
    id,
    ...(account === null ? {} : { account }),
    ...(stated === null ? {} : { stated_bytes: Number(stated) }),
    bytes: read,
    reason,
  }
  return { read, fault: found }
}

async function* findUnowned({ sql, storage }: VerifyOptions): AsyncGenerator<FoundFault> {
  for await (const keys of storage.list()) {
    for (const key of await selectUnowned(sql, keys)) yield { fault: 'unowned', key }
  }
}
