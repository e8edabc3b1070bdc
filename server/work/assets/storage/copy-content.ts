/**
 * Copies content on the local disk from one folder to another, for backups and restores: exactly
 * the files that the database names.
 */
import { constants } from 'node:fs'
import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Sql } from 'postgres'
import { readErrorCode } from '../../../base/database/unavailable.ts'
import { giveToOwnerOf } from '../../../base/lib/secrets/private-files.ts'
import { selectContentKeys } from './content-store.ts'
import { isDiskKey, pathOfContent } from './disk-storage.ts'

export interface CopiedContent {
  readonly files: number
  readonly bytes: number
  /** Content named by the database, but absent from the folder: deleted since, or lost. */
  readonly missing: number
  /** Content in an object store, which needs a backup of its own. */
  readonly elsewhere: number
}

const KEYS_PER_PAGE = 1_000

/** Copies all content; files already present are skipped. Rejects with the disk's errors. */
export async function copyContent(sql: Sql, from: string, to: string): Promise<CopiedContent> {
  const total = { files: 0, bytes: 0, missing: 0, elsewhere: 0 }
  let after = ''
  for (;;) {
    const keys = await selectContentKeys(sql, after, KEYS_PER_PAGE)
    for (const key of keys) {
      if (!isDiskKey(key)) total.elsewhere += 1
      else {
        const target = pathOfContent(to, key)
        const bytes = await copyOne(pathOfContent(from, key), target)
        if (bytes !== undefined) await giveToOwnerOf(dirname(to), [to, dirname(target), target])
        if (bytes === undefined) total.missing += 1
        else {
          total.files += 1
          total.bytes += bytes
        }
      }
    }
    const last = keys.at(-1)
    if (last === undefined) return total
    after = last
  }
}

/** Returns the file's size, or undefined when it does not exist. */
async function copyOne(source: string, target: string): Promise<number | undefined> {
  const size = await sizeOf(source)
  if (size === undefined || (await sizeOf(target)) === size) return size
  const partPath = `${target}.part`
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  try {
    await copyFile(source, partPath, constants.COPYFILE_FICLONE)
    await rename(partPath, target)
    return size
  } catch (error) {
    await rm(partPath, { force: true })
    if (readErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
