/**
 * Converts a recording for vendors that do not take its format: fetches it into a file without a
 * name, has ffmpeg write its sound as MP3, and publishes that until the task ends.
 */
import { Readable } from 'node:stream'
import type { Log } from '../../../base/lib/log.ts'
import type { Memory } from '../../../base/lib/memory/memory.ts'
import type { SpillFile } from '../../../base/lib/memory/spill-file.ts'
import type { Guard } from '../../../base/outbound/guard.ts'
import type { FindOwnContent } from '../own-content.ts'
import type { PublishUpload } from '../uploads/publish-upload.ts'
import { convertToMp3, type Ffmpeg, type FfmpegLimits, SOUND_BYTES_PER_SECOND } from './ffmpeg.ts'
import { SoundFault } from './sound-fault.ts'

export interface SoundJob {
  readonly accountId: string
  /** The request of the task, under which the sound is published. */
  readonly requestId: string
  /** The caller's address of the recording. */
  readonly url: string
  /** Aborts when the work is given up. */
  readonly signal: AbortSignal
}

export interface ConvertedSound {
  /** The address from which the vendor fetches it. */
  readonly url: string
  readonly seconds: number
  /** Bytes of the recording as it was fetched. */
  readonly bytes: number
}

/**
 * Rejects with SoundFault, or with another error if the signal aborts or this gateway is at fault.
 */
export type ConvertSound = (job: SoundJob) => Promise<ConvertedSound>

const FILE_BYTES_MAX = 1024 ** 3
const SECONDS_MAX = 7_200
/** Accepted seconds beyond two hours, which encoders add at both ends. */
const SECONDS_OF_PADDING = 1
const LIMITS: FfmpegLimits = {
  seconds: SECONDS_MAX + 5,
  processorSeconds: 1_800,
  wallMs: 3_600_000,
}
const HEAD_MS = 15_000
const IDLE_MS = 30_000
const DOWNLOAD_MS = 1_800_000
/**
 * The longest time that a vendor may leave a task waiting; the sound is removed earlier if its task
 * ends.
 */
const LIFE_SECONDS = 2 * 86_400

export function createSoundConverter(parts: {
  readonly ffmpeg: Ffmpeg
  readonly guard: Pick<Guard, 'download'>
  readonly findOwn: FindOwnContent
  readonly openFile: Memory['openFile']
  readonly publish: PublishUpload
  readonly log: Log
  /** Replaced by tests. */
  readonly limits?: FfmpegLimits
}): ConvertSound {
  const { ffmpeg, openFile, publish, log, limits = LIMITS } = parts

  async function convert(file: SpillFile, job: SoundJob): Promise<ConvertedSound> {
    let bytes = 0
    let fault: unknown
    async function* sound(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of convertToMp3(ffmpeg, file.descriptor, limits, {
          signal: job.signal,
          log,
        })) {
          bytes += chunk.length
          yield chunk
        }
        check(bytes)
      } catch (error) {
        // Otherwise the storage's error would hide it.
        fault = error
        throw error
      }
    }
    const published = await publish({
      accountId: job.accountId,
      requestId: job.requestId,
      filename: 'recording.mp3',
      bytes: 2 * limits.seconds * SOUND_BYTES_PER_SECOND,
      content: Readable.from(sound(), { objectMode: false }),
      lifeSeconds: LIFE_SECONDS,
    }).catch((error: unknown) => {
      throw fault ?? error
    })
    return { url: published.url, seconds: bytes / SOUND_BYTES_PER_SECOND, bytes: file.bytes }
  }

  return async (job) => {
    const file = await openFile(job.accountId)
    try {
      await fetchInto(file, job, parts)
      return await convert(file, job)
    } finally {
      await file.close()
    }
  }
}

function check(bytes: number): void {
  const seconds = bytes / SOUND_BYTES_PER_SECOND
  if (bytes === 0) throw new SoundFault('not_converted', 'the recording has no sound')
  if (seconds <= SECONDS_MAX + SECONDS_OF_PADDING) return
  throw new SoundFault('recording_too_long', 'the recording is longer than two hours')
}

/** Fetches the recording, from our own storage if it is stored there, else through the guard. */
async function fetchInto(
  file: SpillFile,
  { url, signal }: SoundJob,
  { guard, findOwn }: { readonly guard: Pick<Guard, 'download'>; readonly findOwn: FindOwnContent },
): Promise<void> {
  const own = await findOwn(url)
  if (own === 'missing') throw notDownloaded('it no longer exists')
  if (own) {
    await fill(file, await own.read())
    return
  }
  const late = AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_MS)])
  const download = await guard.download({ url, headMs: HEAD_MS, idleMs: IDLE_MS, signal: late })
  signal.throwIfAborted()
  if (download.outcome !== 'answered') {
    throw notDownloaded(download.message, download.outcome !== 'refused')
  }
  try {
    const { status, length = 0 } = download
    if (status !== 200) throw notDownloaded(`its server answered ${status}`, status >= 500)
    if (length >= FILE_BYTES_MAX) throw tooLarge()
    await fill(file, download.body)
  } finally {
    await download.close()
  }
}

async function fill(file: SpillFile, content: Readable): Promise<void> {
  for await (const chunk of readChunks(content)) {
    if (file.bytes + chunk.length >= FILE_BYTES_MAX) throw tooLarge()
    await file.append(chunk)
  }
  if (file.bytes === 0) throw new SoundFault('not_downloaded', 'the file is empty')
}

async function* readChunks(content: Readable): AsyncGenerator<Buffer> {
  try {
    yield* content
  } catch (cause) {
    throw notDownloaded('it broke off', true, cause)
  }
}

function notDownloaded(reason: string, mayPass = false, cause?: unknown): SoundFault {
  const message = `the file could not be downloaded: ${reason}`
  return new SoundFault('not_downloaded', message, { mayPass, cause })
}

const tooLarge = () => new SoundFault('file_too_large', 'the file is not smaller than 1 GB')
