/** Wires files, gallery, library, copier and housekeeping of stored content. */
import type { Sql } from 'postgres'
import type { Log } from '../../base/lib/log.ts'
import type { Memory } from '../../base/lib/memory/memory.ts'
import { createFairSlots } from '../../base/lib/queues/fair-slots.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { type Copier, type CopierOptions, startCopier } from './copies/copier.ts'
import { createKeeper, type Keeper } from './library/keep-content.ts'
import { createLibrary, type Library } from './library/library.ts'
import { createOwnMeter, type OwnMeasurement } from './measure-own.ts'
import { createOwnFinder } from './own-content.ts'
import { createQuota } from './quota.ts'
import { type ConvertSound, createSoundConverter } from './sound/convert-sound.ts'
import type { Ffmpeg } from './sound/ffmpeg.ts'
import { createBlobs } from './storage/blobs.ts'
import type { ContentFault } from './storage/check-content.ts'
import type { Storage } from './storage/storage.ts'
import { createFiles, type Files } from './uploads/files.ts'
import { createPublisher, type PublishUpload } from './uploads/publish-upload.ts'

export interface Assets {
  readonly files: Files
  readonly library: Library
  /** Publishes the upload of a call while the call lasts. */
  readonly publishUpload: PublishUpload
  /** Measures a file behind one of our own links; undefined for any other URL. */
  readonly measureOwn: (url: string) => Promise<OwnMeasurement | undefined>
  /** Converts recordings; undefined without ffmpeg. */
  readonly convertSound: ConvertSound | undefined
  /** Stores results that arrive as bytes. */
  readonly keeper: Keeper
  /** Starts copying results of tasks; `onEnd` receives the outcome of every attempt. */
  copy(onEnd: CopierOptions['onEnd']): Copier
  /** Housekeeping jobs. `run` resolves with the number of items removed. */
  readonly housekeepingJobs: readonly { readonly name: string; run(): Promise<number> }[]
}

export function openAssets(parts: {
  readonly sql: Sql
  readonly storage: Storage
  readonly guard: Guard
  readonly publicUrl: string
  readonly accountBytesMax: number
  readonly uploadsMax: number
  readonly ffmpeg: Ffmpeg | undefined
  readonly openFile: Memory['openFile']
  /** See Blobs. */
  readonly keepsFiles: () => boolean
  readonly log: Log
  /** Receives each fault of content that is read. */
  readonly onFault?: (fault: ContentFault) => void
}): Assets {
  const { sql, storage, guard, publicUrl, accountBytesMax, uploadsMax, ffmpeg, openFile, log } =
    parts
  const { onFault, keepsFiles } = parts
  const blobs = createBlobs({ sql, storage, log, keepsFiles, onFault })
  const quota = createQuota(sql, accountBytesMax)
  const slots = createFairSlots({ slots: uploadsMax, what: 'uploads', retryAfterSeconds: 2 })
  const files = createFiles({ sql, blobs, quota, slots })
  const library = createLibrary({ sql, blobs, publicUrl })
  const findOwn = createOwnFinder({ files, library, publicUrl })
  const publish = createPublisher({ sql, blobs, publicUrl, log })
  return {
    files,
    library,
    measureOwn: createOwnMeter(findOwn, log),
    publishUpload: publish,
    convertSound:
      ffmpeg && createSoundConverter({ ffmpeg, guard, findOwn, openFile, publish, log }),
    keeper: createKeeper({ blobs, quota, publicUrl }),
    copy: (onEnd) => startCopier({ sql, blobs, quota, guard, log, onEnd }),
    housekeepingJobs: [
      { name: 'expired files', run: files.removeExpired },
      { name: 'loose content', run: blobs.clearDue },
    ],
  }
}
