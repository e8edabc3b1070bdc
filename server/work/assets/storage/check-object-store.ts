/** Tries the object store when a gateway starts. */
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { member } from '../../../base/lib/json.ts'
import type { Log } from '../../../base/lib/log.ts'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import type { ObjectStore } from './s3-client.ts'
import { createS3Storage } from './s3-storage.ts'

/** A start waits this long for a store. */
const ANSWER_MS = 5_000
const NO_KEYS =
  'this machine has no credentials of the object store: set S3_ACCESS_KEY_ID and ' +
  'S3_SECRET_ACCESS_KEY, or give it a role'
const CONTENT = 'written by a gateway that starts'

/** Advice by the error code of the store. */
const ADVICE: Readonly<Record<string, string>> = {
  NoSuchBucket: 'create the bucket or set S3_BUCKET',
  RequestTimeTooSkewed: 'set the clock of this machine',
  InvalidAccessKeyId: 'set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY',
  SignatureDoesNotMatch: 'set S3_SECRET_ACCESS_KEY and S3_REGION',
  AuthorizationHeaderMalformed: 'set S3_REGION',
}

/**
 * Writes, reads and removes an object. Rejects with OperatorError if the store refuses one of them.
 * A store that does not answer is only logged: calls without files do not need it.
 */
export async function checkObjectStore(
  settings: ObjectStore,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const late = sleep(ANSWER_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${ANSWER_MS} ms`)
  })
  try {
    const read = await Promise.race([exchange(settings), late])
    if (read === CONTENT) return
  } catch (error) {
    const { status, code } = readRefusal(error)
    if (code === 'CredentialsProviderError') throw new OperatorError(NO_KEYS, { cause: error })
    if (status === undefined) {
      log.warn({ error }, 'the object store does not answer: files cannot be kept until it does')
      return
    }
    const advice = ADVICE[code] ?? 'grant reading, writing and deleting of its objects'
    throw new OperatorError(
      `the object store ${settings.endpoint} refuses this gateway (${code || status}): ${advice}`,
      { cause: error },
    )
  }
  throw new OperatorError(
    `the object store ${settings.endpoint} does not return what was written: set S3_ENDPOINT`,
  )
}

/** Returns what the store returns for an object that was written. */
async function exchange(settings: ObjectStore): Promise<string> {
  const storage = createS3Storage(settings)
  const key = storage.newKey()
  await storage.write(key, Readable.from([Buffer.from(CONTENT)]), CONTENT.length)
  const read = await (await storage.read(key)).toArray()
  await storage.remove(key)
  return Buffer.concat(read).toString()
}

/** Returns the status and code of a refusal: any 4xx that is not temporary. */
function readRefusal(error: unknown): { readonly status: number | undefined; code: string } {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const status = member(member(cause, '$metadata'), 'httpStatusCode')
  const code = member(cause, 'name')
  const isRefused =
    typeof status === 'number' && status >= 400 && status < 500 && ![408, 429].includes(status)
  return { status: isRefused ? status : undefined, code: typeof code === 'string' ? code : '' }
}
