/**
 * Keeps settlements on the local disk while the database is away. A response may be sent before its
 * settlement is committed; if the process then dies, the next one finds the settlement here.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../base/lib/log.ts'
import { makePrivateFolder } from '../../../base/lib/secrets/private-files.ts'
import type { SettleRow, SettleVerdict } from '../store.ts'
import { parseRows } from './parse-rows.ts'

/** Allocated in advance, so that a full disk does not prevent the first writes. */
const RESERVED_BYTES = 256 * 1024
/** A response does not wait longer than this for the disk. */
const WRITE_MS_MAX = 2_000
/**
 * The longest time that the sweep waits for journals of dead processes, since one of their accounts
 * may be locked.
 */
const SETTLE_MS_MAX = 10_000
const SUFFIX = '.jsonl'
/** The suffix of journals that are kept for the operator. */
const UNKNOWN_SUFFIX = '.unknown'
const FOREIGN =
  'kept a journal with holds that this database does not have: remove the suffix before a gateway' +
  ' starts on the database that it belongs to'
const UNWRITTEN =
  'the journal cannot be written: settlements that wait for the database are only in memory'

export interface Journal {
  /**
   * Resolves when the settlement is on the disk. If it cannot be written, that is logged, and the
   * settlement remains in memory only.
   */
  add(row: SettleRow): Promise<void>
  /** Removes a settlement that is committed. */
  remove(holdId: string): void
  /**
   * Settles what dead processes left in the same folder. A journal with unknown holds, such as
   * those of another database, is set aside. Resolves after ten seconds at the latest; what is not
   * settled by then, such as a call of a locked account, is retried in the background.
   */
  settleOthers(by: Settling): Promise<void>
  /** Counts the journals that were set aside, which only an operator resolves. */
  countUnknown(): number
  /** Deletes the file unless it contains settlements. */
  close(): Promise<void>
}

interface Settling {
  /** Resolves to true while a process may still post its own settlements. */
  readonly isAlive: (ownerId: string) => Promise<boolean>
  readonly settle: (row: SettleRow) => Promise<SettleVerdict>
}

type JournalLog = Pick<Log, 'warn' | 'error'>

/** `folder` is created; `ownerId` names the file of this process. */
export function openJournal(options: {
  readonly folder: string
  readonly ownerId: string
  readonly log: JournalLog
  readonly settleMsMax?: number
}): Journal {
  return new FileJournal(options)
}

class FileJournal implements Journal {
  private readonly path: string
  private readonly folder: string
  private readonly log: JournalLog
  private readonly settleMsMax: number
  /** The holds whose settlement is in the file or about to be. */
  private readonly kept = new Set<string>()
  /** Lines to be written, by hold. */
  private readonly lines = new Map<string, string>()
  private file: FileHandle | undefined
  private writtenBytes = 0
  /** Journals of other processes whose settlements are under way, by path. */
  private readonly settling = new Map<string, Promise<void>>()
  private work: Promise<void>

  constructor(options: Parameters<typeof openJournal>[0]) {
    const { folder, ownerId, log, settleMsMax = SETTLE_MS_MAX } = options
    this.folder = folder
    this.settleMsMax = settleMsMax
    this.path = this.pathOf(ownerId)
    this.log = log
    this.work = this.reopen().catch((error: unknown) => this.report(error))
  }

  async add(row: SettleRow): Promise<void> {
    this.kept.add(row.hold_id)
    this.lines.set(row.hold_id, `${JSON.stringify(row)}\n`)
    await Promise.race([this.enqueue(), sleep(WRITE_MS_MAX, undefined, { ref: false })])
  }

  remove(holdId: string): void {
    this.lines.delete(holdId)
    if (this.kept.delete(holdId) && this.kept.size === 0) void this.enqueue()
  }

  async settleOthers({ isAlive, settle }: Settling): Promise<void> {
    for (const owner of readOwners(this.folder)) {
      const path = this.pathOf(owner)
      if (path === this.path || this.settling.has(path) || (await isAlive(owner))) continue
      const settled = this.settleFile(path, settle).catch((error: unknown) => {
        this.log.error({ error, file: path }, 'the journal of a dead process cannot be settled')
      })
      this.settling.set(
        path,
        settled.finally(() => this.settling.delete(path)),
      )
    }
    const all = Promise.all(this.settling.values())
    await Promise.race([all, sleep(this.settleMsMax, undefined, { ref: false })])
  }

  private async settleFile(path: string, settle: Settling['settle']): Promise<void> {
    const verdicts: SettleVerdict[] = []
    // A process that was not dead after all may have written more in the meantime.
    for (let seen = '', text = readFileSync(path, 'utf8'); text !== seen; ) {
      verdicts.push(...(await Promise.all(parseRows(text).map(settle))))
      seen = text
      // Another process may have settled and deleted it.
      if (existsSync(path)) text = readFileSync(path, 'utf8')
    }
    const posted = verdicts.filter((one) => one === 'closed' || one === 'corrected')
    if (posted.length > 0) {
      const fields = { count: posted.length, file: path }
      this.log.warn(fields, 'posted settlements from the journal of a dead process')
    }
    const isKept = verdicts.some((one) => one === 'unknown' || one === 'archived')
    if (!isKept) return rmSync(path, { force: true })
    const kept = `${path}${UNKNOWN_SUFFIX}`
    renameSync(path, kept)
    this.log.error({ file: kept }, FOREIGN)
  }

  countUnknown(): number {
    return listFiles(this.folder, UNKNOWN_SUFFIX).length
  }

  async close(): Promise<void> {
    await this.enqueue()
    await this.file?.close()
    if (this.kept.size === 0) rmSync(this.path, { force: true })
  }

  private pathOf(ownerId: string): string {
    return join(this.folder, `${ownerId}${SUFFIX}`)
  }

  /** Runs after the writes in progress; concurrent writes share one flush of the disk. */
  private enqueue(): Promise<void> {
    this.work = this.work.then(() => this.write()).catch((error: unknown) => this.report(error))
    return this.work
  }

  private async write(): Promise<void> {
    const lines = [...this.lines]
    if (lines.length > 0) {
      const text = Buffer.from(lines.map(([, line]) => line).join(''))
      const file = await this.current()
      await writeWhole(file, text, this.writtenBytes)
      await file.datasync()
      this.writtenBytes += text.length
      for (const [holdId] of lines) this.lines.delete(holdId)
    }
    if (this.kept.size === 0 && this.writtenBytes > 0) await this.clear()
  }

  /** Overwrites the file's content, which keeps the space allocated. */
  private async clear(): Promise<void> {
    const file = await this.current()
    await file.write(Buffer.alloc(Math.min(this.writtenBytes, RESERVED_BYTES)), 0, undefined, 0)
    await file.truncate(RESERVED_BYTES)
    await file.datasync()
    this.writtenBytes = 0
  }

  /** Returns the open file. Another process deletes it if it takes this one for dead. */
  private async current(): Promise<FileHandle> {
    if (!this.file || (await this.file.stat()).nlink === 0) await this.reopen()
    if (!this.file) throw new Error('the journal is not open')
    return this.file
  }

  private async reopen(): Promise<void> {
    await this.file?.close()
    this.file = undefined
    makePrivateFolder(this.folder)
    const file = await open(this.path, 'w', 0o600)
    try {
      await file.write(Buffer.alloc(RESERVED_BYTES), 0, undefined, 0)
      await file.sync()
      await syncFolder(this.folder)
    } catch (error) {
      // The disk is full. The file must be closed, since Node ends a process that loses track of an
      // open file.
      await file.close()
      throw error
    }
    this.file = file
    this.writtenBytes = 0
  }

  private report(error: unknown): void {
    this.log.error({ error, file: this.path }, UNWRITTEN)
  }
}

/** When a disk fills up, the first write may be partial, without an error. */
async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** Makes the name of a new file durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

function readOwners(folder: string): string[] {
  return listFiles(folder, SUFFIX).map((name) => name.slice(0, -SUFFIX.length))
}

function listFiles(folder: string, suffix: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(suffix))
  } catch {
    // There is no folder before the first journal.
    return []
  }
}
