/**
 * Hashes passwords with argon2id in its standard notation, so that costs can be raised and old
 * hashes recognised. The derivation is slow and uses much memory on purpose; a queue keeps a flood
 * of sign-ins from exhausting the machine.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { GatewayError } from '../../base/lib/errors.ts'

interface Cost {
  readonly memoryKb: number
  readonly passes: number
  readonly parallelism: number
}

export type Derive = (password: string, salt: Buffer, cost: Cost) => Promise<Buffer>

export interface Passwords {
  /** Throws 429 if the queue is full. */
  hash(password: string): Promise<string>
  /**
   * Takes the same time without a hash. `isStale` means that the costs have been raised since, so
   * the password should be hashed again.
   */
  verify(
    password: string,
    hash: string | null,
  ): Promise<{ readonly isRight: boolean; readonly isStale: boolean }>
}

/** The memory of RFC 9106's second recommended choice, about 0.2 s of one core. */
const COST: Cost = { memoryKb: 65_536, passes: 3, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32
const PARALLEL_MAX = 2
const WAITING_MAX = 40
const NOTATION = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/

const deriveArgon2 = promisify(argon2)

const derive: Derive = (password, salt, { memoryKb, passes, parallelism }) =>
  deriveArgon2('argon2id', {
    message: Buffer.from(password.normalize('NFC')),
    nonce: salt,
    memory: memoryKb,
    passes,
    parallelism,
    tagLength: HASH_BYTES,
  })

/** `using` replaces the derivation in tests. */
export function createPasswords(using: Derive = derive): Passwords {
  const inTurn = createQueue()
  const run: Derive = (...args) => inTurn(() => using(...args))
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      return notate(COST, salt, await run(password, salt, COST))
    },
    async verify(password, hash) {
      const parsed = hash === null ? undefined : read(hash)
      const { cost, salt, bytes } = parsed ?? DUMMY_HASH
      const found = await run(password, salt, cost)
      const isRight = found.length === bytes.length && timingSafeEqual(found, bytes)
      const isStale = notate(cost, salt, bytes) !== notate(COST, salt, bytes)
      return { isRight: parsed !== undefined && isRight, isStale }
    },
  }
}

/** The hash compared with for unknown names; no password has it. */
const DUMMY_HASH = { cost: COST, salt: randomBytes(SALT_BYTES), bytes: randomBytes(HASH_BYTES) }

function notate({ memoryKb, passes, parallelism }: Cost, salt: Buffer, bytes: Buffer): string {
  const text = (part: Buffer) => part.toString('base64').replace(/={1,2}$/, '')
  return `$argon2id$v=19$m=${memoryKb},t=${passes},p=${parallelism}$${text(salt)}$${text(bytes)}`
}

function read(hash: string) {
  const [, memory, passes, parallelism, salt = '', bytes = ''] = NOTATION.exec(hash) ?? []
  if (memory === undefined) return undefined
  return {
    cost: { memoryKb: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    bytes: Buffer.from(bytes, 'base64'),
  }
}

/** Runs at most two derivations at once, and throws 429 while the queue is full. */
function createQueue() {
  const waiting: (() => void)[] = []
  let running = 0
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= PARALLEL_MAX) {
      if (waiting.length >= WAITING_MAX) {
        throw new GatewayError('rate_limited', { retryAfterSeconds: 5 })
      }
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
