/** Files, gallery and library together, with what keeps them in order: for the wiring. */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import type { Guard } from '../outbound/guard.ts'
import { type Copier, type CopierOptions, startCopier } from './copies/copier.ts'
import { createKeeper, type Keeper } from './library/keep-content.ts'
import { createLibrary, type Library } from './library/library.ts'
import { createOwnMeter, type OwnMeasurement } from './measure-own.ts'
import { createQuota } from './quota.ts'
import { createBlobs } from './storage/blobs.ts'
import type { Storage } from './storage/storage.ts'
import { createFiles, type Files } from './uploads/files.ts'
import { createLend, type Lend } from './uploads/publish-upload.ts'
import { createUploadSlots } from './uploads/upload-slots.ts'

export interface Assets {
  readonly files: Files
  readonly library: Library
  /** Makes the upload of a call public while the call lasts. */
  readonly lend: Lend
  /** Of an address that is ours; undefined for any other. */
  readonly measureOwn: (url: string) => Promise<OwnMeasurement | undefined>
  /** For results that come as bytes. */
  readonly keeper: Keeper
  /** Begins to copy what tasks make, and tells what comes of each try. */
  copy(onEnd: CopierOptions['onEnd']): Copier
  /** To be done now and then. */
  readonly housekeepingJobs: readonly { readonly name: string; run(): Promise<number> }[]
}

export function openAssets(parts: {
  readonly sql: Sql
  readonly storage: Storage
  readonly guard: Guard
  readonly publicUrl: string
  readonly accountBytesMax: number
  readonly uploadsMax: number
  readonly log: Log
}): Assets {
  const { sql, storage, guard, publicUrl, accountBytesMax, uploadsMax, log } = parts
  const blobs = createBlobs({ sql, storage, log })
  const quota = createQuota(sql, accountBytesMax)
  const slots = createUploadSlots(uploadsMax)
  const files = createFiles({ sql, blobs, quota, slots })
  const library = createLibrary({ sql, blobs, publicUrl })
  return {
    files,
    library,
    measureOwn: createOwnMeter({ files, library, publicUrl, log }),
    lend: createLend({ sql, blobs, publicUrl, log }),
    keeper: createKeeper({ blobs, quota, publicUrl }),
    copy: (onEnd) => startCopier({ sql, blobs, quota, guard, log, ...(onEnd ? { onEnd } : {}) }),
    housekeepingJobs: [
      { name: 'expired files', run: files.removeExpired },
      { name: 'loose content', run: blobs.clearDue },
    ],
  }
}
